import { formatTarget, parseTarget } from '../../plan/target.js';
import { formatBytes, formatCount, formatCounted, formatRate } from '../../units.js';
import { FAILURE_PHRASES, failedIn, failureCounts, failureSentence } from '../failure-counts.js';
import type { Report } from '../report.schema.js';
import { booksReason } from '../verdict.js';
import { agentRows, clockTexts, outlierTexts } from './agent-texts.js';
import { addressTexts, failureReasonTexts, routeTexts, tlsTexts } from './connection-texts.js';
import { machineLines } from './environment-text.js';
import { labelled, table, wrapped } from './printable.js';
import {
  agentShares,
  booksSentence,
  durationText,
  emptyBooksTexts,
  formatShare,
  headlineWarning,
  isEmpty,
  latencyRows,
} from './report-lines.js';
import { scheduleTexts } from './schedule-texts.js';

/** What is readable anywhere. */
const DEFAULT_WIDTH = 80;
const LABEL_WIDTH = 13;

/**
 * The report in short, for people: plain text, one line end at the end.
 * @param width columns that sentences are broken at, and beyond which columns of a table go below the others.
 */
export function summaryText(report: Report, width = DEFAULT_WIDTH): string {
  const field = (label: string, texts: readonly string[]): string[] =>
    labelled(label, texts, { labelWidth: LABEL_WIDTH, width, indent: '  ' });
  const lines = isEmpty(report)
    ? [
        ...headLines(report, width),
        'No reply came, so there is nothing to measure.',
        '',
        ...field('Failed', failureTexts(report)),
        ...field('Reasons', failureReasonTexts(report)),
        ...field('Warnings', report.warnings ?? []),
        ...field('Books', emptyBooksTexts(report)),
        ...field('Verdict', emptyVerdictTexts(report)),
        ...field('Advice', report.verdict.advice),
      ]
    : [
        ...headLines(report, width),
        ...headlineLines(report, width),
        ...blockOf(table(latencyRows(report), width)),
        ...blockOf(table(agentRows(report), width)),
        '',
        ...field('Failed', failureTexts(report)),
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

/** Who was the limit, which machine and how fast: none of it means anything when no reply came. */
function emptyVerdictTexts(report: Report): string[] {
  const [, ...reasons] = verdictTexts(report);
  return [report.verdict.outcome, ...reasons];
}

/** Outcome and limit, and the reasons that the lines above do not tell already. */
function verdictTexts(report: Report): string[] {
  const { outcome, limit, reasons } = report.verdict;
  const told = new Set([failureSentence(report), booksReason(report)]);
  return [`${outcome}; limit: ${limit}`, ...reasons.filter((reason) => !told.has(reason))];
}

function headLines({ plan, shards, agents }: Report, width: number): string[] {
  const target = parseTarget(plan.target);
  const address = typeof target === 'string' ? plan.target : formatTarget(target);
  const slots = new Set(shards.map((shard) => shard.shardIndex)).size;
  const busyAgents = agents.filter((agent) => agent.shards > 0).length;
  const places = `${formatCounted(slots, 'slot')} on ${formatCounted(busyAgents, 'agent')}`;
  const title = plan.name === undefined ? '' : ` (${plan.name})`;
  return [
    ...wrapped(`${plan.method} ${address}${title}`, width, '  '),
    ...wrapped(`${formatCounted(plan.connections, 'connection')}, ${places}`, width, '  '),
    '',
  ];
}

function headlineLines(report: Report, width: number): string[] {
  const { counters } = report;
  const seconds = report.timeTakenUs / 1e6;
  const rate = seconds > 0 ? counters.completed / seconds : 0;
  const completed = formatCount(counters.completed);
  const warning = headlineWarning(report);
  return [
    ...wrapped(
      `${formatRate(rate)} requests/s   ${completed} completed in ${durationText(report)}`,
      width,
      '  ',
    ),
    ...(warning === undefined ? [] : wrapped(`! ${warning}`, width, '  ')),
  ];
}

/** The lines with an empty line before them; nothing for no lines. */
function blockOf(lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', ...lines];
}

function failureTexts(report: Report): string[] {
  const failed = failedIn(report);
  const sent = report.counters.sent;
  const counts = failureCounts(report);
  const width = Math.max(0, ...counts.map(({ count }) => formatCount(count).length));
  return [
    failed === 0
      ? 'none'
      : `${formatCount(failed)} of ${formatCount(sent)} sent (${formatShare(failed, sent)})`,
    ...counts.map(
      ({ failureClass, count }) => `${formatCount(count).padStart(width)} ${FAILURE_PHRASES[failureClass]}`,
    ),
  ];
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
