import { type Report, summaryText } from '@broadside/shared';
import type { JsonDestination } from './json-file.js';
import { writeJsonReport } from './json-report.js';
import { columnsOf, writeOut } from './streams.js';

/**
 * Prints a report for people, and writes it as JSON where that was asked for; who wants the JSON on stdout finds the
 * text on stderr.
 * @throws CliError with EXIT.file.
 */
export async function writeReport(report: Report, json: JsonDestination | undefined): Promise<void> {
  const isJsonOnStdout = json?.isStdout === true;
  const text = summaryText(report, columnsOf(isJsonOnStdout ? process.stderr : process.stdout));
  if (isJsonOnStdout) process.stderr.write(text);
  else await writeOut(text);
  await writeJsonReport(json, report);
}
