import { type KeyObject, sign } from 'node:crypto';
import { LIMITS, PROTOCOL_VERSION, type Shard, type ShardOrder, type SignedShard } from '@broadside/shared';
import type { Clock } from '../clock.js';

/** Makes shard jobs that agents believe (docs/adr/0006): who can write to the queue's Redis cannot. */
export class ShardSigner {
  readonly #privateKey: KeyObject;
  readonly #clock: Pick<Clock, 'epochUs'>;

  constructor(privateKey: KeyObject, clock: Pick<Clock, 'epochUs'>) {
    this.#privateKey = privateKey;
    this.#clock = clock;
  }

  /** The job for this agent and no other, to be taken within its lifetime. */
  sign(shard: Shard, agentId: string): SignedShard {
    const expiresAtUs = this.#clock.epochUs() + LIMITS.shardOrderLifeMs * 1_000;
    const order = JSON.stringify({ agentId, expiresAtUs, shard } satisfies ShardOrder);
    const signature = sign(null, Buffer.from(order), this.#privateKey).toString('base64');
    return { protocol: PROTOCOL_VERSION, order, signature };
  }
}
