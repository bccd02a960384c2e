import { type CoordinatorMessage, LIMITS, shardAttemptKey } from '@broadside/shared';

type Ack = Extract<CoordinatorMessage, { kind: 'ack' }>;

/**
 * Acknowledgements to one agent that come in the same turn of the event loop, as one message: a batch that the store
 * has committed holds frames of all its slots. Of the same attempt only the newest is said.
 */
export class AckBundle {
  readonly #send: (message: CoordinatorMessage) => void;
  readonly #acks = new Map<string, Ack>();

  constructor(send: (message: CoordinatorMessage) => void) {
    this.#send = send;
  }

  add(ack: Ack): void {
    if (this.#acks.size === 0) setImmediate(() => this.#flush());
    const key = shardAttemptKey(ack.shard);
    const known = this.#acks.get(key);
    if (known === undefined || known.number < ack.number) this.#acks.set(key, ack);
    if (this.#acks.size >= LIMITS.maxBundledFrames) this.#flush();
  }

  #flush(): void {
    const acks = [...this.#acks.values()];
    this.#acks.clear();
    const [first] = acks;
    if (first === undefined) return;
    if (acks.length === 1) this.#send(first);
    else this.#send({ kind: 'acks', acks: acks.map(({ shard, number }) => ({ shard, number })) });
  }
}
