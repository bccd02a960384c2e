import type { ProgressOutput } from './progress.js';

/** stderr as a place for progress. */
export function stderrProgress(): ProgressOutput {
  return {
    write: (text) => process.stderr.write(text),
    isTerminal: process.stderr.isTTY,
    columns: process.stderr.columns ?? 80,
  };
}

/** Writes to stdout and resolves when the text has left the process, so that nothing is cut off at the end. */
export async function writeOut(text: string): Promise<void> {
  await new Promise<void>((resolve) => process.stdout.write(text, () => resolve()));
}

/** Writes a line of ours to stderr. */
export function writeNote(text: string): void {
  process.stderr.write(`broadside: ${text}\n`);
}
