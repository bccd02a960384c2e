import { EXIT, type Plan } from '@broadside/shared';
import { CliError } from '../cli-error.js';
import { coordinatorAddress } from '../client/coordinator-client.js';
import { tokenOf, typedToken } from '../client/coordinator-token.js';
import { trustedCertificates } from '../client/trusted-certificates.js';
import { fromEnvironment } from '../flags.js';
import type { TransportWish } from '../transport-flag.js';
import type { OpenCluster } from './open-cluster.js';

export interface ClusterChoice {
  /** Absent: an embedded cluster, whatever the environment says. */
  readonly remote?: {
    /** Name of the flag, for messages. */
    readonly flag: string;
    readonly url: string | undefined;
    readonly token: string | undefined;
    readonly tokenFile?: string | undefined;
    readonly caFile?: string | undefined;
  };
  /** What is to be run: an embedded cluster offers the slots that it can use. */
  readonly plan: Pick<Plan, 'slots' | 'connections'>;
  /** What the embedded engines use; agents elsewhere have their own. */
  readonly transport?: TransportWish | undefined;
  /** Told when an embedded start takes longer than a moment. */
  readonly onSlowStart: () => void;
}

const SLOW_START_MS = 300;

/**
 * Chooses between a coordinator that runs elsewhere (flag, then BROADSIDE_COORDINATOR) and an embedded one.
 * The address is checked now; a token file is read, and the embedded one starts, only when the returned function
 * is called.
 * @throws CliError with EXIT.usage.
 */
export function chooseCluster(choice: ClusterChoice): () => Promise<OpenCluster> {
  const { remote } = choice;
  const url = remote?.url ?? (remote === undefined ? undefined : fromEnvironment('BROADSIDE_COORDINATOR'));
  if (remote === undefined || url === undefined) return () => openEmbedded(choice);
  const flag = remote.url === undefined ? 'BROADSIDE_COORDINATOR' : remote.flag;
  if (choice.transport !== undefined) {
    throw new CliError(
      EXIT.usage,
      `--transport belongs to the agents there (broadside agent --transport …), because ${flag} names a coordinator`,
    );
  }
  coordinatorAddress(flag, url, typedToken(remote.token));
  return async () => {
    const token = await tokenOf(remote, 'BROADSIDE_TOKEN');
    const ca = await trustedCertificates('--coordinator-ca', remote.caFile);
    return {
      address: { ...coordinatorAddress(flag, url, token), ca },
      isLasting: true,
      close: () => Promise.resolve(),
    };
  };
}

async function openEmbedded({ plan, transport, onSlowStart }: ClusterChoice): Promise<OpenCluster> {
  const timer = setTimeout(onSlowStart, SLOW_START_MS);
  try {
    const { startEmbeddedCluster } = await import('./embedded-cluster.js');
    return await startEmbeddedCluster(plan, transport);
  } finally {
    clearTimeout(timer);
  }
}
