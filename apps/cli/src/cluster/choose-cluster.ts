import type { Plan } from '@broadside/shared';
import { coordinatorAddress } from '../client/coordinator-client.js';
import { fromEnvironment } from '../flags.js';
import type { OpenCluster } from './open-cluster.js';

export interface ClusterChoice {
  /** Absent: an embedded cluster, whatever the environment says. */
  readonly remote?: {
    /** Name of the flag, for messages. */
    readonly flag: string;
    readonly url: string | undefined;
    readonly token: string | undefined;
  };
  /** What is to be run: an embedded cluster offers the slots that it can use. */
  readonly plan: Pick<Plan, 'slots' | 'connections'>;
  /** Told when an embedded start takes longer than a moment. */
  readonly onSlowStart: () => void;
}

const SLOW_START_MS = 300;

/**
 * Chooses between a coordinator that runs elsewhere (flag, then BROADSIDE_COORDINATOR) and an embedded one.
 * Addresses are checked now; the embedded one starts only when the returned function is called.
 * @throws CliError with EXIT.usage.
 */
export function chooseCluster({ remote, plan, onSlowStart }: ClusterChoice): () => Promise<OpenCluster> {
  const url = remote?.url ?? (remote === undefined ? undefined : fromEnvironment('BROADSIDE_COORDINATOR'));
  if (remote === undefined || url === undefined) return () => openEmbedded(plan, onSlowStart);
  const flag = remote.url === undefined ? 'BROADSIDE_COORDINATOR' : remote.flag;
  const address = coordinatorAddress(flag, url, remote.token ?? fromEnvironment('BROADSIDE_TOKEN'));
  return () => Promise.resolve({ address, close: () => Promise.resolve() });
}

async function openEmbedded(plan: ClusterChoice['plan'], onSlowStart: () => void): Promise<OpenCluster> {
  const timer = setTimeout(onSlowStart, SLOW_START_MS);
  try {
    const { startEmbeddedCluster } = await import('./embedded-cluster.js');
    return await startEmbeddedCluster(plan);
  } finally {
    clearTimeout(timer);
  }
}
