import type { AbCounting } from '../ab-counts.js';
import { AB_DIFFERENCE_TEXTS, abDifferencesOf } from '../ab-differences.js';
import type { Report } from '../report.schema.js';
import { abTimesRows } from './ab-times.js';
import { addressTexts, failureReasonTexts, routeTexts } from './connection-texts.js';
import { machineLines } from './environment-text.js';
import { table, wrapped } from './printable.js';
import { agentShares, booksSentence, connectionsAchieved, headlineWarning } from './report-lines.js';

const WIDTH = 80;
const LABEL_WIDTH = 24;

/**
 * What ab's report cannot say, for after its last line or for stderr: who sent the load, whether the books
 * balance, who was the limit, where classic counting differs from ab's, and the connection times in µs. Begins with
 * an empty line.
 */
export function abNotes(report: Report, counting: AbCounting = 'once'): string {
  const warning = headlineWarning(report);
  const open = connectionsAchieved(report);
  const { outcome, limit, reasons, advice } = report.verdict;
  const lines = [
    '',
    `Broadside ${report.broadsideVersion}, run ${report.run.id}`,
    ...(warning === undefined ? [] : noted('Warning:', [warning])),
    ...(open === undefined ? [] : noted('Concurrency achieved:', [String(open)])),
    ...noted('Addresses:', addressTexts(report)),
    ...noted('Route:', routeTexts(report)),
    ...noted('Failures:', failureReasonTexts(report)),
    ...noted('Agents:', agentShares(report)),
    ...noted('Machines:', machineLines(report)),
    ...noted('Warnings:', report.warnings ?? []),
    ...noted('Books:', [booksSentence(report)]),
    ...noted('Verdict:', [`${outcome}; limit: ${limit}`, ...reasons]),
    ...noted('Advice:', advice),
    ...(counting === 'classic' ? abDifferenceLines(report) : []),
    ...timesLinesUs(report),
  ];
  return `${lines.join('\n')}\n`;
}

/** Where ab 2.3 would give other figures; one line each, or two where it is long. */
export function abDifferenceLines(report: Report): string[] {
  return noted(
    'Unlike ab 2.3:',
    abDifferencesOf(report).map((name) => AB_DIFFERENCE_TEXTS[name]),
  );
}

/** A label, and each text on lines of its own beside it. Nothing for no texts. */
function noted(label: string, texts: readonly string[]): string[] {
  return texts.flatMap((text, i) => {
    const start = (i === 0 ? label : '').padEnd(LABEL_WIDTH);
    const [first = '', ...more] = wrapped(text, WIDTH - LABEL_WIDTH, '');
    return [`${start}${first}`, ...more.map((line) => `${' '.repeat(LABEL_WIDTH)}${line}`)];
  });
}

function timesLinesUs(report: Report): string[] {
  if (report.latency.total.count === 0) return [];
  const whole = (valueUs: number): string => String(Math.round(valueUs));
  const rows = abTimesRows(report.latency).map((row) => [
    `${row.label}:`,
    whole(row.minUs),
    whole(row.meanUs),
    whole(row.stddevUs),
    whole(row.medianUs),
    whole(row.maxUs),
  ]);
  return ['', ...table([['Connection Times (us)', 'min', 'mean', '+/-sd', 'median', 'max'], ...rows])];
}
