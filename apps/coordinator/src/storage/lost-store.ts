import { BroadsideError } from '@broadside/shared';

const HINT = 'put that right, and start the coordinator again';

/** The store is gone from where it was opened, so that no waiting brings it back to this process. */
export class LostStoreError extends BroadsideError {
  /** @param gone why, as `Store.whyGone` says it. */
  constructor(gone: string, cause?: unknown) {
    super('unavailable', `the coordinator has lost its store: ${gone}`, { hint: HINT, cause });
  }

  /** What, where and what to do. */
  get sentence(): string {
    return `${this.message}; ${HINT}`;
  }
}
