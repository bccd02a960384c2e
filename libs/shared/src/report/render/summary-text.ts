import { formatTarget, parseTarget } from '../../plan/target.js';
import { formatBytes, formatCount, formatCounted } from '../../units.js';
import { FAILURE_PHRASES, failedIn, failureCounts, failureSentence } from '../failure-counts.js';
import type { Report } from '../report.schema.js';
import { booksReason } from '../verdict.js';
import { agentRows, clockTexts, outlierTexts } from './agent-texts.js';
import { addressTexts, failureReasonTexts, routeTexts, tlsTexts } from './connection-texts.js';
import { machineLines } from './environment-text.js';
import { table, wrapped } from './printable.js';
import {
  agentShares,
  booksSentence,
  durationText,
  formatShare,
  headlineWarning,
  latencyRows,
} from './report-lines.js';
import { scheduleTexts } from './schedule-texts.js';

const WIDTH = 80;
const LABEL_WIDTH = 13;

/** The report in short, for people: at most 80 columns, plain text, one line end at the end. */
export function summaryText(report: Report): string {
  const lines = [
    ...headlineLines(report),
    ...blockOf(table(latencyRows(report))),
    ...blockOf(table(agentRows(report))),
    '',
    ...failureLines(report),
    ...field('Reasons', failureReasonTexts(report)),
    ...field('Schedule', scheduleTexts(report)),
    ...field('Status', statusTexts(report)),
    ...field('Connections', [connectionsText(report), ...routeTexts(report)]),
    ...field('Addresses', addressTexts(report)),
    ...field('TLS', tlsTexts(report)),
    ...field('Transfer', [transferText(report)]),
    ...field('Agents', agentShares(report)),
    ...field('Outliers', outlierTexts(report)),
    ...field('Clocks', clockTexts(report)),
    ...field('Machines', machineLines(report)),
    ...field('Warnings', report.warnings ?? []),
    ...field('Books', [booksSentence(report)]),
    ...field('Verdict', verdictTexts(report)),
    ...field('Advice', report.verdict.advice),
  ];
  return `${lines.join('\n')}\n`;
}

/** Outcome and limit, and the reasons that the lines above do not tell already. */
function verdictTexts(report: Report): string[] {
  const { outcome, limit, reasons } = report.verdict;
  const told = new Set([failureSentence(report), booksReason(report)]);
  return [`${outcome}; limit: ${limit}`, ...reasons.filter((reason) => !told.has(reason))];
}

function headlineLines(report: Report): string[] {
  const { plan, counters, shards, agents } = report;
  const target = parseTarget(plan.target);
  const address = typeof target === 'string' ? plan.target : formatTarget(target);
  const seconds = report.timeTakenUs / 1e6;
  const rate = seconds > 0 ? counters.completed / seconds : 0;
  const slots = new Set(shards.map((shard) => shard.shardIndex)).size;
  const busyAgents = agents.filter((agent) => agent.shards > 0).length;
  const places = `${formatCounted(slots, 'slot')} on ${formatCounted(busyAgents, 'agent')}`;
  const warning = headlineWarning(report);
  const title = plan.name === undefined ? '' : ` (${plan.name})`;
  return [
    ...wrapped(`${plan.method} ${address}${title}`, WIDTH, '  '),
    `${formatCounted(plan.connections, 'connection')}, ${places}`,
    '',
    `${formatRate(rate)} requests/s   ${formatCount(counters.completed)} completed in ${durationText(report)}`,
    ...(warning === undefined ? [] : wrapped(`! ${warning}`, WIDTH, '  ')),
  ];
}

/** Whole numbers from 100 on, else three digits. */
function formatRate(perSecond: number): string {
  if (perSecond >= 99.5) return formatCount(perSecond);
  return perSecond === 0 ? '0' : perSecond.toPrecision(3);
}

/** The lines with an empty line before them; nothing for no lines. */
function blockOf(lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', ...lines];
}

/** A label, and each text on lines of its own beside it. Nothing for no texts. */
function field(label: string, texts: readonly string[]): string[] {
  return texts.flatMap((text, i) => {
    const start = (i === 0 ? label : '').padEnd(LABEL_WIDTH);
    const [first = '', ...more] = wrapped(text, WIDTH - LABEL_WIDTH, '  ');
    return [`${start}${first}`, ...more.map((line) => `${' '.repeat(LABEL_WIDTH)}${line}`)];
  });
}

function failureLines(report: Report): string[] {
  const failed = failedIn(report);
  const sent = report.counters.sent;
  const counts = failureCounts(report);
  const width = Math.max(0, ...counts.map(({ count }) => formatCount(count).length));
  return field('Failed', [
    failed === 0
      ? 'none'
      : `${formatCount(failed)} of ${formatCount(sent)} sent (${formatShare(failed, sent)})`,
    ...counts.map(
      ({ failureClass, count }) => `${formatCount(count).padStart(width)} ${FAILURE_PHRASES[failureClass]}`,
    ),
  ]);
}

/** Empty where no reply came. */
function statusTexts(report: Report): string[] {
  const entries = Object.entries(report.statusCounts);
  return entries.length === 0 ? [] : [entries.map(([code, n]) => `${code}: ${formatCount(n)}`).join(', ')];
}

function connectionsText({ counters: c }: Report): string {
  const parts: readonly (readonly [number, string])[] = [
    [c.connectionsFailed, 'failed'],
    [c.connectionsClosedAnnounced, 'closed by the target after announcing it'],
    [c.connectionsClosedUnannounced, 'closed by the target unannounced'],
    [c.connectionsClosedIdle, 'closed by the target while idle'],
  ];
  const told = parts.filter(([count]) => count > 0).map(([count, what]) => `, ${formatCount(count)} ${what}`);
  return `${formatCount(c.connectionsOpened)} opened${told.join('')}`;
}

function transferText({ counters, timeTakenUs }: Report): string {
  const seconds = timeTakenUs / 1e6;
  const perSecond = seconds > 0 ? ` (${formatBytes(counters.bytesReceived / seconds)}/s)` : '';
  const body = formatBytes(counters.bodyBytesReceived);
  return (
    `received ${formatBytes(counters.bytesReceived)}${perSecond}, of which body ${body}; ` +
    `sent ${formatBytes(counters.bytesSent)}`
  );
}
