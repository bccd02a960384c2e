/**
 * Tells the coordinator's shard jobs from those that anybody else wrote into the queue: signed by a key that came
 * over the agent's own socket, for this agent, not expired, and not taken before.
 */
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import {
  LIMITS,
  PROTOCOL_VERSION,
  type Shard,
  type ShardAttempt,
  shardAttemptKey,
  shardAttemptSchema,
  shardOrderSchema,
  shardSchema,
  signedShardSchema,
} from '@broadside/shared';

export interface ShardOrdersOptions {
  readonly agentId: string;
  /** Coordinator's clock in µs, as well as it is known; undefined before the first round trip. */
  readonly coordinatorUs: () => number | undefined;
}

export type OpenedJob =
  | { readonly kind: 'shard'; readonly shard: Shard }
  /** Not the coordinator's word: nothing of it may be believed. */
  | { readonly kind: 'forged'; readonly reason: string }
  /** The coordinator's word, but not a shard that this agent understands. */
  | { readonly kind: 'invalid'; readonly attempt: ShardAttempt | undefined; readonly reason: string };

export class ShardOrders {
  readonly #options: ShardOrdersOptions;
  #keys: readonly KeyObject[] = [];
  /** Attempts that were taken, and when their orders expire: until then the same order could come again. */
  readonly #taken = new Map<string, number>();

  constructor(options: ShardOrdersOptions) {
    this.#options = options;
  }

  /** @param keys SPKI, DER, base64; what is no such key is left out. */
  trust(keys: readonly string[]): void {
    this.#keys = keys.flatMap(readKey);
  }

  open(data: unknown): OpenedJob {
    const job = signedShardSchema.safeParse(data);
    if (!job.success) return { kind: 'forged', reason: unsignedReason(data) };
    const { order: text, signature } = job.data;
    const bytes = Buffer.from(text);
    const signatureBytes = Buffer.from(signature, 'base64');
    if (!this.#keys.some((key) => verify(null, bytes, key, signatureBytes))) {
      return { kind: 'forged', reason: 'the job does not have the signature of the coordinator' };
    }
    // What was signed was written by the coordinator, so that this is JSON.
    const order = shardOrderSchema.parse(JSON.parse(text));
    if (order.agentId !== this.#options.agentId) {
      return { kind: 'forged', reason: 'the job was signed for another agent' };
    }
    const nowUs = this.#options.coordinatorUs();
    // Without a round trip the agent has just started: its id is new, and nothing was signed for it long ago.
    if (nowUs !== undefined && nowUs > order.expiresAtUs) {
      return { kind: 'forged', reason: 'the job has expired' };
    }
    return this.#take(order.shard, order.expiresAtUs, nowUs);
  }

  #take(data: unknown, expiresAtUs: number, nowUs: number | undefined): OpenedJob {
    const shard = shardSchema.safeParse(data);
    if (!shard.success) {
      const attempt = shardAttemptSchema.safeParse(data);
      const reason = invalidReason(data, shard.error.issues);
      return { kind: 'invalid', attempt: attempt.success ? attempt.data : undefined, reason };
    }
    const key = shardAttemptKey(shard.data);
    if (this.#taken.has(key)) return { kind: 'forged', reason: 'the job was taken before' };
    if (nowUs !== undefined) this.#forgetExpired(nowUs);
    this.#taken.set(key, expiresAtUs);
    return { kind: 'shard', shard: shard.data };
  }

  #forgetExpired(nowUs: number): void {
    for (const [key, expiresAtUs] of this.#taken) {
      // They expire in the order in which they were signed, about the order of taking.
      if (expiresAtUs + LIMITS.shardOrderLifeMs * 1_000 >= nowUs) return;
      this.#taken.delete(key);
    }
  }
}

function readKey(text: string): KeyObject[] {
  try {
    const key = createPublicKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'spki' });
    return key.asymmetricKeyType === 'ed25519' ? [key] : [];
  } catch {
    // Then jobs of that key are refused, and say so.
    return [];
  }
}

function unsignedReason(data: unknown): string {
  return protocolReason(data) ?? 'the job is not signed';
}

function protocolReason(data: unknown): string | undefined {
  const protocol =
    typeof data === 'object' && data !== null && 'protocol' in data ? data.protocol : undefined;
  if (typeof protocol !== 'number' || protocol === PROTOCOL_VERSION) return undefined;
  return `the shard is written in protocol ${protocol}, this agent speaks ${PROTOCOL_VERSION}: update the older side`;
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

function invalidReason(data: unknown, issues: readonly Issue[]): string {
  const [first] = issues;
  const where = first === undefined || first.path.length === 0 ? 'shard' : first.path.map(String).join('.');
  const invalid = `the job is not a valid shard (${where}: ${first?.message ?? 'invalid'})`;
  return (protocolReason(data) ?? invalid).slice(0, 1_000);
}
