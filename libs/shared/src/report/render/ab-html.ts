import { parseProxy } from '../../plan/proxy.js';
import { abCounts } from '../ab-counts.js';
import type { Report } from '../report.schema.js';
import { type AbTextOptions, hasBody, serverSoftware, targetOf } from './ab-text.js';
import { type AbTimesRow, abRoundMs, abTimesRows } from './ab-times.js';
import { printable } from './printable.js';

/** `-x`, `-y` and `-z`: attributes that ab puts into the tags as they are. */
export interface AbHtmlAttributes {
  readonly table: string;
  readonly row: string;
  readonly cell: string;
}

/**
 * ab's report as an HTML table (`-w`), in its layout. It differs from ab's where that would be wrong: values
 * from outside are escaped, receive errors are counted in the line of failures, and the processing times are
 * those of the requests, where ab subtracts the extremes of two rows from each other.
 */
export function abHtmlReport(report: Report, options: AbTextOptions, attributes: AbHtmlAttributes): string {
  const { row, cell } = attributes;
  const line = (label: string, value: string): string =>
    `<tr ${row}><th colspan=2 ${cell}>${label}</th><td colspan=2 ${cell}>${value}</td></tr>`;
  const plainLine = (value: string): string =>
    `<tr ${row}><td colspan=2 ${cell}>&nbsp;</td><td colspan=2 ${cell}>${value}</td></tr>`;
  const lines = [
    `<table ${attributes.table}>`,
    ...targetRows(report, options).map(([label, value]) => line(label, value)),
    ...countRows(report, options).map(([label, value]) =>
      label === '' ? `<tr ${row}><td colspan=4 ${cell} >${value}</td></tr>` : line(label, value),
    ),
    ...rateRows(report, options).map(([label, value]) =>
      label === '' ? plainLine(value) : line(label, value),
    ),
    ...timesRows(report, attributes),
    '</table>',
  ];
  return `${lines.join('\n')}\n`;
}

type Row = readonly [label: string, value: string];

function targetRows(report: Report, options: AbTextOptions): Row[] {
  const target = targetOf(report);
  const isVariable = options.variableLength ?? !report.plan.checkLength;
  return [
    ['Server Software:', escaped(serverSoftware(report.target.server ?? ''))],
    ['Server Hostname:', escaped(options.host ?? target.host)],
    ['Server Port:', String(options.port ?? target.port)],
    ['Document Path:', escaped(options.path ?? target.path)],
    ['Document Length:', isVariable ? 'Variable' : `${report.referenceBytes ?? 0} bytes`],
  ];
}

/** An empty label is the line of failures by kind, which spans the table. */
function countRows(report: Report, options: AbTextOptions): Row[] {
  const { counters } = report;
  const counts = abCounts(report, options.counting);
  const { complete, failed, connect, receive, length, exceptions } = counts;
  const rows: Row[] = [
    ['Concurrency Level:', String(options.concurrency ?? report.plan.connections)],
    ['Time taken for tests:', `${(report.timeTakenUs / 1e6).toFixed(3)} seconds`],
    ['Complete requests:', String(complete)],
    ['Failed requests:', String(failed)],
  ];
  if (failed > 0) {
    const kinds = `Connect: ${connect}, Receive: ${receive}, Length: ${length}, Exceptions: ${exceptions}`;
    rows.push(['', `   (${kinds})`]);
  }
  if (counters.non2xx > 0) rows.push(['Non-2xx responses:', String(counters.non2xx)]);
  if (options.keepAlive ?? report.plan.keepAlive) {
    rows.push(['Keep-Alive requests:', String(counts.keepAlive)]);
  }
  rows.push(['Total transferred:', `${counters.bytesReceived} bytes`]);
  if (hasBody(report, options)) rows.push(['Total body sent:', String(counters.bytesSent)]);
  rows.push(['HTML transferred:', `${counters.bodyBytesReceived} bytes`]);
  return rows;
}

function rateRows(report: Report, options: AbTextOptions): Row[] {
  const timeTakenS = report.timeTakenUs / 1e6;
  const { complete } = abCounts(report, options.counting);
  if (timeTakenS === 0) return [];
  const { bytesReceived, bytesSent } = report.counters;
  const kbPerS = (sizeBytes: number): string => (sizeBytes / 1_024 / timeTakenS).toFixed(2);
  const rows: Row[] = [
    ['Requests per second:', (complete / timeTakenS).toFixed(2)],
    ['Transfer rate:', `${kbPerS(bytesReceived)} kb/s received`],
  ];
  if (hasBody(report, options)) {
    rows.push(
      ['', `${kbPerS(bytesSent)} kb/s sent`],
      ['', `${kbPerS(bytesReceived + bytesSent)} kb/s total`],
    );
  }
  return rows;
}

function timesRows(report: Report, { row, cell }: AbHtmlAttributes): string[] {
  if (report.latency.total.count === 0) return [];
  const head = ['min', 'avg', 'max'].map((name) => `<th ${cell}>${name}</th>`).join('   ');
  const shown = abTimesRows(report.latency).filter(({ label }) => label !== 'Waiting');
  return [
    `<tr ${row}><th ${cell} colspan=4>Connection Times (ms)</th></tr>`,
    `<tr ${row}><th ${cell}>&nbsp;</th> ${head}</tr>`,
    ...shown.map((each) => `<tr ${row}><th ${cell}>${each.label}:</th>${timesCells(each, cell)}</tr>`),
  ];
}

function timesCells({ minUs, meanUs, maxUs }: AbTimesRow, cell: string): string {
  return [minUs, meanUs, maxUs].map((us) => `<td ${cell}>${String(abRoundMs(us)).padStart(5)}</td>`).join('');
}

function escaped(text: string): string {
  return printable(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** `host:port` of the plan's proxy, as ab names it; undefined without one. */
export function proxyNameOf({ proxy }: { readonly proxy?: string | undefined }): string | undefined {
  const parsed = proxy === undefined ? undefined : parseProxy(proxy);
  return parsed === undefined || typeof parsed === 'string' ? undefined : `${parsed.host}:${parsed.port}`;
}
