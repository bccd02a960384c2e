import { EXIT } from '@broadside/shared';
import { CliError } from '../cli-error.js';
import { describeOutputFailure } from '../describe-error.js';
import type { ProgressOutput } from './progress.js';

/** stderr as a place for progress. */
export function stderrProgress(): ProgressOutput {
  return {
    write: (text) => process.stderr.write(text),
    isTerminal: process.stderr.isTTY,
    columns: process.stderr.columns || 80,
  };
}

/** Narrower than this nothing is readable, however it is broken. */
const LEAST_COLUMNS = 40;

/** Columns for sentences on a stream: those of its terminal; elsewhere they are not broken, as programs want them. */
export function columnsOf(stream: NodeJS.WriteStream): number {
  return stream.isTTY ? Math.max(LEAST_COLUMNS, stream.columns || 80) : Number.POSITIVE_INFINITY;
}

/**
 * Writes to stdout and resolves when the text has left the process, so that nothing is cut off at the end.
 * @throws CliError with EXIT.file. A reader that went away is no failure: main ends the process then.
 */
export async function writeOut(text: string): Promise<void> {
  const error = await new Promise<Error | null | undefined>((resolve) => process.stdout.write(text, resolve));
  const failure = error ? describeOutputFailure(error) : undefined;
  if (failure !== undefined) throw new CliError(EXIT.file, failure, error);
}

/** Writes a line of ours to stderr. */
export function writeNote(text: string): void {
  process.stderr.write(`broadside: ${text}\n`);
}
