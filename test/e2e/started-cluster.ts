// Coordinators and agents as processes of their own, started through the command line.

import { startBroadside } from '../cli/broadside.js';
import type { RunningProcess } from '../support/process.js';

export interface StartedCoordinator {
  readonly url: string;
  readonly process: RunningProcess;
}

/** `broadside serve` on a free port, once it listens. */
export async function startServe(
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<StartedCoordinator> {
  const started = await startBroadside(['serve', '--port', '0', ...words], env);
  const line = await started.waitForLine(/^broadside coordinator listens on /);
  return { url: line.replace(/^.* listens on /, ''), process: started };
}

/** `broadside agent`, once it has joined. */
export async function startAgentProcess(
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<RunningProcess> {
  const started = await startBroadside(['agent', ...words], env);
  await started.waitForLine(/ offers \d+ slots? /);
  return started;
}
