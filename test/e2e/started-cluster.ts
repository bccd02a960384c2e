// Coordinators and agents as processes of their own, started through the command line.

import { startBroadside } from '../cli/broadside.js';
import type { RunningProcess } from '../support/process.js';
import { RedisServer } from '../support/redis.js';

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

export interface StartedCluster {
  readonly url: string;
  /** By name, each with one slot. */
  readonly agents: ReadonlyMap<string, RunningProcess>;
  readonly stop: () => Promise<void>;
}

/** Redis, a coordinator, and agents that all start at the same moment. */
export async function startCluster(
  names: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<StartedCluster> {
  const redis = await RedisServer.start();
  const withToken = { BROADSIDE_JOIN_TOKEN: 'a-join-token-of-this-test', ...env };
  const coordinator = await startServe(['--redis', redis.url], withToken);
  const words = ['--join', coordinator.url, '--slots', '1', '--name'];
  const agents = new Map(
    await Promise.all(
      names.map(async (name) => [name, await startAgentProcess([...words, name], withToken)] as const),
    ),
  );
  const stop = async (): Promise<void> => {
    await Promise.all([...agents.values()].map((agent) => agent.stop()));
    await coordinator.process.stop();
    await redis.stop();
  };
  return { url: coordinator.url, agents, stop };
}
