// The built command as a child process, and a target for it.

import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LOOPBACK, type Place } from '../support/place.js';
import {
  type ProcessOptions,
  type ProcessResult,
  type RunningProcess,
  runProcess,
} from '../support/process.js';

export const MAIN = fileURLToPath(new URL('../../apps/cli/dist/main.js', import.meta.url));

/**
 * What a developer may have set must not reach the command under test, and what it keeps must not stay in a home
 * directory. All tests share one folder, so that a machine measures itself once.
 */
const CLEAN: Readonly<Record<string, string | undefined>> = {
  XDG_CACHE_HOME: join(tmpdir(), 'broadside-tests-cache'),
  BROADSIDE_COORDINATOR: undefined,
  BROADSIDE_TOKEN: undefined,
  BROADSIDE_TOKEN_FILE: undefined,
  BROADSIDE_JOIN_TOKEN: undefined,
  BROADSIDE_JOIN_TOKEN_FILE: undefined,
  BROADSIDE_ADMIN_TOKEN_FILE: undefined,
  BROADSIDE_CA: undefined,
  BROADSIDE_TLS_CERT: undefined,
  BROADSIDE_TLS_KEY: undefined,
  BROADSIDE_TRUST_PROXY: undefined,
  BROADSIDE_REDIS_URL: undefined,
  BROADSIDE_SLOTS: undefined,
  BROADSIDE_TRANSPORT: undefined,
  BROADSIDE_KEEP_RUNS: undefined,
  BROADSIDE_LOG_FORMAT: undefined,
};

type Env = NonNullable<ProcessOptions['env']>;

/** Runs a command to its end. */
export function broadside(words: readonly string[], env: Env = {}): Promise<ProcessResult> {
  return runProcess(process.execPath, [MAIN, ...words], { env: { ...CLEAN, ...env } });
}

/** Starts a command that is to be stopped or signalled. */
export function startBroadside(
  words: readonly string[],
  env: Env = {},
  place: Place = LOOPBACK,
): Promise<RunningProcess> {
  return place.start(process.execPath, [MAIN, ...words], { env: { ...CLEAN, ...env } });
}

export interface StartedTarget {
  readonly url: string;
  readonly process: RunningProcess;
}

export async function startTarget(words: readonly string[] = []): Promise<StartedTarget> {
  const started = await startBroadside(['target', '--processes', '1', ...words]);
  return { url: await started.waitForLine(/^http:/), process: started };
}

/** A port of 127.0.0.1 where nobody listens; the system gives it to nobody else so soon. */
export async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  if (address === null || typeof address === 'string') throw new Error('no TCP address');
  return address.port;
}
