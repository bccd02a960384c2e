// The built command, run as a user runs it, and its JSON report beside the text.

import { randomUUID } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Report, reportSchema } from '@broadside/shared';
import { startBroadside } from '../cli/broadside.js';
import type { ProcessExit, RunningProcess } from '../support/process.js';

export interface FiredRun extends ProcessExit {
  readonly stdout: string;
  readonly stderr: string;
  readonly durationMs: number;
  /** Undefined when the command ended without a report. */
  readonly report: Report | undefined;
}

/** `ab` or `run` on its way; `ended` has everything it left behind. */
export interface FiringRun {
  readonly process: RunningProcess;
  readonly ended: Promise<FiredRun>;
}

const DEFAULT_TIMEOUT_MS = 60_000;

/**
 * Starts `broadside ab …` or `broadside run …` with `--json`. The command is killed, and `ended` rejects with all
 * it printed, when it takes longer than `timeoutMs`: nothing here may hang.
 */
export async function startRun(
  words: readonly string[],
  timeoutMs: number = DEFAULT_TIMEOUT_MS,
): Promise<FiringRun> {
  const [command = '', ...rest] = words;
  const jsonPath = join(tmpdir(), `broadside-e2e-${randomUUID()}.json`);
  const startMs = performance.now();
  const started = await startBroadside([command, '--json', jsonPath, ...rest]);
  return { process: started, ended: collect(started, { jsonPath, startMs, timeoutMs }) };
}

/** The same to its end. */
export async function fire(words: readonly string[], timeoutMs?: number): Promise<FiredRun> {
  const { ended } = await startRun(words, timeoutMs);
  return ended;
}

/** The report, or an error with everything that the command printed. */
export function reportOf(fired: FiredRun): Report {
  if (fired.report !== undefined) return fired.report;
  throw new Error(
    `exit ${fired.exitCode} without a report\n--- stdout\n${fired.stdout}\n--- stderr\n${fired.stderr}`,
  );
}

interface Collecting {
  readonly jsonPath: string;
  readonly startMs: number;
  readonly timeoutMs: number;
}

async function collect(
  started: RunningProcess,
  { jsonPath, startMs, timeoutMs }: Collecting,
): Promise<FiredRun> {
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    started.signal('SIGKILL');
  }, timeoutMs);
  const ended = await started.exit;
  clearTimeout(timer);
  const durationMs = performance.now() - startMs;
  const stdout = started.stdout();
  const stderr = started.stderr();
  if (isLate) {
    throw new Error(`did not end in ${timeoutMs} ms\n--- stdout\n${stdout}\n--- stderr\n${stderr}`);
  }
  return { ...ended, stdout, stderr, durationMs, report: await readReport(jsonPath) };
}

async function readReport(path: string): Promise<Report | undefined> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  await rm(path, { force: true });
  return text === undefined ? undefined : reportSchema.parse(JSON.parse(text));
}
