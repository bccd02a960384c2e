import type { Shard } from '@broadside/shared';
import { reply } from './raw-target.js';
import { type FinishedRun, type RunHooks, runShardAgainst } from './run-shard-against.js';
import { type NetworkEvent, type NetworkScript, SimulatedNetwork } from './simulated-network.js';

export type Simulation = FinishedRun & { readonly network: SimulatedNetwork };

/** Runs a shard on a simulated network and its clock; the books are checked on the way. */
export async function simulate(
  shard: Shard,
  script: NetworkScript,
  hooks: RunHooks = {},
): Promise<Simulation> {
  const network = new SimulatedNetwork(script);
  const run = await runShardAgainst(shard, { ...hooks, clock: network, openTransport: () => network });
  return { ...run, network };
}

/** Every attempt to connect succeeds after 300 µs. */
export const opens = (): { afterUs: number } => ({ afterUs: 300 });

/** Every request gets a plain reply after so long. */
export const answersAfter = (afterUs: number) => (): NetworkEvent[] => [{ afterUs, bytes: reply(10) }];
