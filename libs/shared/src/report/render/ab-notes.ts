import type { AbCounting } from '../ab-counts.js';
import { AB_DIFFERENCE_TEXTS, abDifferencesOf } from '../ab-differences.js';
import type { Report } from '../report.schema.js';
import { abTimesRows } from './ab-times.js';
import { addressTexts, failureReasonTexts, routeTexts } from './connection-texts.js';
import { machineLines } from './environment-text.js';
import { labelled, table } from './printable.js';
import {
  agentShares,
  booksSentence,
  connectionsAchieved,
  emptyBooksTexts,
  headlineWarning,
  isEmpty,
} from './report-lines.js';

/** What is readable anywhere. */
const DEFAULT_WIDTH = 80;
const LABEL_WIDTH = 24;

/**
 * What ab's report cannot say, for after its last line or for stderr: who sent the load, whether the books
 * balance, who was the limit, where classic counting differs from ab's, and the connection times in µs. Begins with
 * an empty line.
 * @param width columns that sentences are broken at; the table keeps its own.
 */
export function abNotes(report: Report, counting: AbCounting = 'once', width = DEFAULT_WIDTH): string {
  const noted = (label: string, texts: readonly string[]): string[] =>
    labelled(label, texts, { labelWidth: LABEL_WIDTH, width });
  const warning = headlineWarning(report);
  const open = connectionsAchieved(report);
  const { outcome, limit, reasons, advice } = report.verdict;
  const differences = counting === 'classic' ? abDifferenceLines(report, width) : [];
  const lines = isEmpty(report)
    ? [
        ...noted('Failures:', failureReasonTexts(report)),
        ...noted('Warnings:', report.warnings ?? []),
        ...noted('Books:', emptyBooksTexts(report)),
        ...noted('Verdict:', [outcome, ...reasons]),
        ...noted('Advice:', advice),
        ...differences,
      ]
    : [
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
        ...differences,
        ...timesLinesUs(report, width),
      ];
  return `${['', `Broadside ${report.broadsideVersion}, run ${report.run.id}`, ...lines].join('\n')}\n`;
}

/** Where ab 2.3 would give other figures; one line each, or two where it is long. */
export function abDifferenceLines(report: Report, width = DEFAULT_WIDTH): string[] {
  const texts = abDifferencesOf(report).map((name) => AB_DIFFERENCE_TEXTS[name]);
  return labelled('Unlike ab 2.3:', texts, { labelWidth: LABEL_WIDTH, width });
}

function timesLinesUs(report: Report, width: number): string[] {
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
  return ['', ...table([['Connection Times (us)', 'min', 'mean', '+/-sd', 'median', 'max'], ...rows], width)];
}
