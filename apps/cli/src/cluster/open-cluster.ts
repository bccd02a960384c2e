import type { CoordinatorAddress } from '../client/coordinator-client.js';

/** A coordinator to fire runs at, and how to be done with it. */
export interface OpenCluster {
  readonly address: CoordinatorAddress;
  readonly close: () => Promise<void>;
}
