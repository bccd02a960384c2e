import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { closeWithin } from './closing.js';
import type { OpenCluster } from './open-cluster.js';

/** Each slot is a thread; a mistyped number must not take the whole machine. */
const MAX_EXTRA_SLOTS = 256;

/**
 * A coordinator and an agent in this process, for one command: nothing is kept, nobody else can reach it.
 * Runs take the same way as on a cluster: REST, queue, agent socket, live stream.
 * @param wantedSlots slots that the run insists on; there are more where the machine has more cores.
 */
export async function startEmbeddedCluster(wantedSlots: number): Promise<OpenCluster> {
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
      slots: Math.max(availableParallelism(), Math.min(wantedSlots, MAX_EXTRA_SLOTS)),
      ...(coordinator.agentQueue === undefined ? {} : { queue: coordinator.agentQueue }),
    });
    return {
      address: { url: coordinator.url, token },
      close: () => closeWithin([() => agent.close(), () => coordinator.close()]),
    };
  } catch (error) {
    await closeWithin([() => coordinator.close()]);
    throw error;
  }
}
