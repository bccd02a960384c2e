import { type Report, reportJson } from '@broadside/shared';
import type { JsonDestination } from './json-file.js';

/** Writes the report as JSON where one was asked for. @throws CliError with EXIT.file. */
export async function writeJsonReport(
  destination: JsonDestination | undefined,
  report: Report,
): Promise<void> {
  await destination?.write(reportJson(report));
}
