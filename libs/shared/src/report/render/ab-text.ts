import { shardConnectionOf } from '../../plan/shard-connection.js';
import { parseTarget, type Target } from '../../plan/target.js';
import { type AbCounting, type AbCounts, abCounts } from '../ab-counts.js';
import type { Report } from '../report.schema.js';
import { type AbTimesRow, abPercentileUs, abRoundMs, abTimesRows } from './ab-times.js';
import { printable } from './printable.js';

/** What the command line knows and the plan does not say in the same words. All have a value from the report. */
export interface AbTextOptions {
  /** `-k`. */
  readonly keepAlive?: boolean;
  /** `-p` or `-u`, even with an empty file. */
  readonly hasBody?: boolean;
  /** `-l`. */
  readonly variableLength?: boolean;
  /** `-d`. */
  readonly noPercentiles?: boolean;
  /** `-S`. */
  readonly shortTimes?: boolean;
  /** Host as typed, without brackets; port; path with its query. */
  readonly host?: string;
  readonly port?: number;
  readonly path?: string;
  readonly concurrency?: number;
  /** `--ab-counting`; absent: each failed request once. */
  readonly counting?: AbCounting;
}

const LABEL_WIDTH = 24;
const PERCENTILES = [50, 66, 75, 80, 90, 95, 98, 99];

/** The report as ab's text, from `Server Software:` to its last line, with one line end at the end. */
export function abReport(report: Report, options: AbTextOptions = {}): string {
  const counts = abCounts(report, options.counting);
  const lines = [
    ...targetLines(report, options),
    '',
    ...countLines(report, counts, options),
    ...rateLines(report, counts, options),
    ...timesLines(report, options),
    ...percentileLines(report, counts, options),
  ];
  return `${lines.join('\n')}\n`;
}

function labelled(label: string, value: string | number): string {
  return `${label.padEnd(LABEL_WIDTH)}${value}`;
}

function targetLines(report: Report, options: AbTextOptions): string[] {
  const target = targetOf(report);
  const isVariable = options.variableLength ?? !report.plan.checkLength;
  return [
    labelled('Server Software:', serverSoftware(report.target.server ?? '')),
    labelled('Server Hostname:', printable(options.host ?? target.host)),
    labelled('Server Port:', options.port ?? target.port),
    ...tlsLines(report, target),
    '',
    labelled('Document Path:', printable(options.path ?? target.path)),
    labelled('Document Length:', isVariable ? 'Variable' : `${report.referenceBytes ?? 0} bytes`),
  ];
}

/** The first handshake's facts, where one succeeded; the name is what was sent, whatever came of it. */
function tlsLines({ plan, target: { tls } }: Report, target: Target): string[] {
  const serverName = shardConnectionOf(plan, target).tls?.serverName ?? '';
  const facts = tls && `${tls.protocol},${tls.cipher},${tls.publicKeyBits},${tls.cipherBits}`;
  return [
    ...(facts === undefined ? [] : [labelled('SSL/TLS Protocol:', printable(facts))]),
    ...(tls?.tempKey === undefined ? [] : [labelled('Server Temp Key:', printable(tls.tempKey))]),
    ...(serverName === '' ? [] : [labelled('TLS Server Name:', serverName)]),
  ];
}

/** The plan was checked when it was accepted, so its target has parts. */
export function targetOf(report: Report): Target {
  const target = parseTarget(report.plan.target);
  if (typeof target === 'string') throw new TypeError(`report with a bad target: ${target}`);
  return target;
}

/** ab stops at the first blank or control character; programs that read its reports expect one word. */
export function serverSoftware(server: string): string {
  let end = 0;
  while (end < server.length && server.charCodeAt(end) > 0x20) end++;
  return printable(server.slice(0, end));
}

function countLines(report: Report, counts: AbCounts, options: AbTextOptions): string[] {
  const { counters } = report;
  const { connect, receive, length, exceptions } = counts;
  const lines = [
    labelled('Concurrency Level:', options.concurrency ?? report.plan.connections),
    labelled('Time taken for tests:', `${(report.timeTakenUs / 1e6).toFixed(3)} seconds`),
    labelled('Complete requests:', counts.complete),
    labelled('Failed requests:', counts.failed),
  ];
  if (counts.failed > 0) {
    lines.push(`   (Connect: ${connect}, Receive: ${receive}, Length: ${length}, Exceptions: ${exceptions})`);
  }
  if (counters.write > 0) lines.push(labelled('Write errors:', counters.write));
  if (counters.non2xx > 0) lines.push(labelled('Non-2xx responses:', counters.non2xx));
  if (options.keepAlive ?? report.plan.keepAlive) {
    lines.push(labelled('Keep-Alive requests:', counts.keepAlive));
    if (counts.keepAliveAborts > 0) lines.push(labelled('Keep-Alive aborts:', counts.keepAliveAborts));
  }
  lines.push(labelled('Total transferred:', `${counters.bytesReceived} bytes`));
  if (hasBody(report, options)) lines.push(labelled('Total body sent:', counters.bytesSent));
  lines.push(labelled('HTML transferred:', `${counters.bodyBytesReceived} bytes`));
  return lines;
}

export function hasBody(report: Report, options: AbTextOptions): boolean {
  return options.hasBody ?? report.requestBodyBytes > 0;
}

function rateLines(report: Report, { complete }: AbCounts, options: AbTextOptions): string[] {
  const timeTakenS = report.timeTakenUs / 1e6;
  if (timeTakenS === 0 || complete === 0) return [];
  const concurrency = options.concurrency ?? report.plan.connections;
  const { bytesReceived, bytesSent } = report.counters;
  const kbPerS = (sizeBytes: number): string => (sizeBytes / 1_024 / timeTakenS).toFixed(2);
  const timeEachMs = (timeTakenS * 1_000) / complete;
  const lines = [
    labelled('Requests per second:', `${(complete / timeTakenS).toFixed(2)} [#/sec] (mean)`),
    labelled('Time per request:', `${(concurrency * timeEachMs).toFixed(3)} [ms] (mean)`),
    labelled('Time per request:', `${timeEachMs.toFixed(3)} [ms] (mean, across all concurrent requests)`),
    labelled('Transfer rate:', `${kbPerS(bytesReceived)} [Kbytes/sec] received`),
  ];
  if (hasBody(report, options)) {
    lines.push(labelled('', `${kbPerS(bytesSent)} kb/s sent`));
    lines.push(labelled('', `${kbPerS(bytesReceived + bytesSent)} kb/s total`));
  }
  return lines;
}

/**
 * Left out where no complete reply was timed: a table of zeros would claim that something was measured.
 * There are no warnings that mean and median are further apart than the standard deviation: in no set of
 * numbers are they, and ab's warnings come from comparing numbers that it has rounded to ms before.
 */
function timesLines(report: Report, options: AbTextOptions): string[] {
  if (report.latency.total.count === 0) return [];
  const rows = abTimesRows(report.latency);
  const head = ['', 'Connection Times (ms)'];
  if (options.shortTimes === true) {
    return [...head, `${' '.repeat(14)}min   avg   max`, ...rows.map(shortTimesLine)];
  }
  return [...head, `${' '.repeat(14)}min  mean[+/-sd] median   max`, ...rows.map(timesLine)];
}

function timesLine(row: AbTimesRow): string {
  const min = String(abRoundMs(row.minUs)).padStart(5);
  const mean = String(abRoundMs(row.meanUs)).padStart(4);
  const stddev = (row.stddevUs / 1_000).toFixed(1).padStart(5);
  const median = String(abRoundMs(row.medianUs)).padStart(6);
  const max = String(abRoundMs(row.maxUs)).padStart(7);
  return `${`${row.label}:`.padEnd(12)}${min} ${mean} ${stddev} ${median} ${max}`;
}

function shortTimesLine(row: AbTimesRow): string {
  const min = String(abRoundMs(row.minUs)).padStart(5);
  const mean = String(abRoundMs(row.meanUs)).padStart(5);
  const max = String(abRoundMs(row.maxUs)).padStart(5);
  return `${`${row.label}:`.padEnd(12)}${min} ${mean}${max}`;
}

function percentileLines(report: Report, { complete }: AbCounts, options: AbTextOptions): string[] {
  const { total } = report.latency;
  if (options.noPercentiles === true || complete < 2 || total.count === 0) return [];
  const ms = (latencyUs: number): string => String(abRoundMs(latencyUs)).padStart(5);
  return [
    '',
    'Percentage of the requests served within a certain time (ms)',
    ...PERCENTILES.map((percent) => `  ${percent}%  ${ms(abPercentileUs(total, percent))}`),
    ` 100%  ${ms(total.maxUs)} (longest request)`,
  ];
}
