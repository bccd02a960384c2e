import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import type { Plan } from '@broadside/shared';
import type { TransportWish } from '../transport-flag.js';
import { closeWithin } from './closing.js';
import type { OpenCluster } from './open-cluster.js';

/** Each slot is a thread; a mistyped number must not take the whole machine. */
const MAX_EXTRA_SLOTS = 256;

/**
 * A coordinator and an agent in this process, for one command: nothing is kept, nobody else can reach it.
 * Runs take the same way as on a cluster: REST, queue, agent socket, live stream.
 */
export async function startEmbeddedCluster(
  plan: Pick<Plan, 'slots' | 'connections'>,
  transport?: TransportWish,
): Promise<OpenCluster> {
  const { startCoordinator } = await import('@broadside/coordinator');
  // Loopback is shared with every user of the machine, and a load cluster obeys whoever reaches it.
  const token = randomBytes(24).toString('base64url');
  const starting = startCoordinator({
    host: '127.0.0.1',
    port: 0,
    dataDir: 'ephemeral',
    apiToken: token,
    logLevel: 'error',
  });
  // The agent's code comes into memory while the coordinator waits for its store.
  const [coordinator, { startAgent }] = await Promise.all([starting, import('@broadside/agent')]);
  try {
    const agent = await startAgent({
      coordinatorUrl: coordinator.url,
      joinToken: coordinator.joinToken,
      slots: slotsFor(plan),
      ...(transport === undefined ? {} : { transport }),
      ...(coordinator.agentQueue === undefined ? {} : { queue: coordinator.agentQueue }),
    });
    return {
      address: { url: coordinator.url, token },
      isLasting: false,
      close: () => closeWithin([() => agent.close(), () => coordinator.close()]),
    };
  } catch (error) {
    await closeWithin([() => coordinator.close()]);
    throw error;
  }
}

/**
 * As many as there are cores, but no more than the run has connections, because each is a thread that is started;
 * and as many as the run insists on, because there are no other agents to wait for.
 */
function slotsFor({ slots = 1, connections }: Pick<Plan, 'slots' | 'connections'>): number {
  return Math.max(Math.min(availableParallelism(), connections), Math.min(slots, MAX_EXTRA_SLOTS));
}
