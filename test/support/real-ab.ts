// Debian's own ab, run beside ours and read with the same strict parser.

import { type AbReport, parseAbReport } from './ab-shape.js';
import { type ProcessResult, type RunOptions, runProcess } from './process.js';
import { programPath } from './programs.js';

export interface AbRun extends ProcessResult {
  /** Undefined when ab printed no report: a usage error, or a run that it gave up. */
  readonly report: AbReport | undefined;
}

/** Runs the real ab to its end. Throws when it printed a report that the strict parser does not know. */
export async function runRealAb(args: readonly string[], options: RunOptions = {}): Promise<AbRun> {
  const result = await runProcess(programPath('ab'), args, options);
  const hasReport = result.stdout.includes('Concurrency Level:');
  return { ...result, report: hasReport ? parseAbReport(result.stdout) : undefined };
}
