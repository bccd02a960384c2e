import { formatCount, formatCounted, formatDurationMs, formatLatencyUs } from '../../units.js';
import { collapsedLines } from '../collapsed-lines.js';
import { failedIn } from '../failure-counts.js';
import { headlineWarningOf } from '../headline-warning.js';
import type { Report } from '../report.schema.js';
import { printable } from './printable.js';

/** `12.3 %`; a part that is there is never shown as none, and one that is missing never as all. */
export function formatShare(part: number, whole: number): string {
  if (whole === 0 || part === 0) return '0 %';
  if (part === whole) return '100 %';
  const percent = (100 * part) / whole;
  if (percent < 0.05) return '< 0.1 %';
  return percent > 99.95 ? '> 99.9 %' : `${percent.toFixed(1)} %`;
}

/**
 * Whether not one reply came, of whatever status: then there is no rate, no latency and no limit to tell of. Where
 * the books do not balance, or an agent was lost, everything is told all the same.
 */
export function isEmpty({ statusCounts, latency, ledger, agents }: Report): boolean {
  const hasReply = latency.total.count > 0 || Object.keys(statusCounts).length > 0;
  return !hasReply && ledger.balanced && !agents.some((agent) => agent.lost);
}

/** One entry for each agent: name, requests that ended on it, its share of all, and whether it was lost. */
export function agentShares(report: Report): string[] {
  const ended = report.agents.map((agent) => agent.completed + agent.failed);
  const all = ended.reduce((sum, count) => sum + count, 0);
  return report.agents.map((agent, i) => {
    const own = ended[i] ?? 0;
    const lost = agent.lost ? ', lost' : '';
    const requests = `${formatCounted(own, 'request')} (${formatShare(own, all)})`;
    return `${printable(agent.name)}: ${requests}, ${formatCounted(agent.shards, 'shard')}${lost}`;
  });
}

/** The identity with its numbers when it holds, else everything that is wrong. */
export function booksSentence(report: Report): string {
  const { counters, ledger, lostWithAgent } = report;
  if (!ledger.balanced) return `do not balance: ${collapsedLines(ledger.problems).join('; ')}`;
  const parts: readonly (readonly [string, number])[] = [
    ['failed', failedIn(report)],
    ['in flight at the end', counters.inFlightAtEnd],
    ['lost with agents', lostWithAgent],
    ['not sent, time over', counters.notSentTimeOver],
    ['not sent, no connection free', counters.notSentNoConnection],
    ['not sent, stopped', counters.notSentStopped],
    ['not sent, fatal error', counters.notSentFatal],
    ['not sent, agent lost', report.notSentWithAgent ?? 0],
  ];
  const others = parts
    .filter(([, count]) => count > 0)
    .map(([name, count]) => ` + ${formatCount(count)} ${name}`);
  const completed = `${formatCount(counters.completed)} completed`;
  return `balance: ${formatCount(counters.planned)} planned = ${completed}${others.join('')}`;
}

/** The books where no reply came: empty where all that was planned failed, and that is told already. */
export function emptyBooksTexts(report: Report): string[] {
  return report.counters.planned === failedIn(report) ? [] : [booksSentence(report)];
}

/** Most connections that were open at once, from the merged seconds; undefined without any. */
export function connectionsAchieved(report: Report): number | undefined {
  const most = report.seconds.reduce(
    (sofar, { openConnections, openConnectionsMax = openConnections }) => Math.max(sofar, openConnectionsMax),
    0,
  );
  return most === 0 ? undefined : most;
}

/** Why the headline number cannot be taken as it is; undefined when it can. */
export function headlineWarning({ verdict, ledger }: Report): string | undefined {
  return verdict.warning ?? headlineWarningOf(verdict, ledger);
}

const LATENCY_HEAD = ['', 'count', 'p50', 'p90', 'p99', 'p99.9', 'max'];

/**
 * Rows of a latency table with its head; latencies without a sample are left out. A paced load has two totals:
 * from the planned time, and raw, from the real send.
 */
export function latencyRows(report: Report): string[][] {
  const { total, fresh, reused, wait, connect, tls, corrected, sendLag } = report.latency;
  const others = { fresh, reused, wait, connect, tls };
  const named = Object.entries(
    sendLag.count > 0 ? { corrected, raw: total, ...others, 'send lag': sendLag } : { total, ...others },
  );
  const rows = named
    .filter(([, latency]) => latency.count > 0)
    .map(([name, { count, p50Us, p90Us, p99Us, p999Us, maxUs }]) => [
      name,
      formatCount(count),
      ...[p50Us, p90Us, p99Us, p999Us, maxUs].map(formatLatencyUs),
    ]);
  return rows.length === 0 ? [] : [LATENCY_HEAD, ...rows];
}

export function durationText(report: Report): string {
  return formatDurationMs(report.timeTakenUs / 1_000);
}
