import type { CoordinatorAddress } from '../client/coordinator-client.js';

/** A coordinator to fire runs at, and how to be done with it. */
export interface OpenCluster {
  readonly address: CoordinatorAddress;
  /** True where its coordinator, and the runs on it, outlive this command. */
  readonly isLasting: boolean;
  readonly close: () => Promise<void>;
}
