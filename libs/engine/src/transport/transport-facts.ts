import { type FailureReason, LIMITS, type TlsFacts } from '@broadside/shared/engine';

const REASON_LENGTH = 300;
const OTHER_REASONS = 'other reasons';

/** What a transport knows beyond events: for the end of the shard, and for messages about failures. */
export class TransportFacts {
  /** One line: why a slower transport is used than could be, or what was asked for and cannot be done. */
  note: string | undefined;
  tls: TlsFacts | undefined;
  /** Why the last connection failed, in words; empty where the cause says it all. */
  lastReason = '';
  readonly #reasons = new Map<string, number>();

  noteReason(reason: string): void {
    const line = reason.replace(/\s+/g, ' ').trim().slice(0, REASON_LENGTH);
    this.lastReason = line;
    if (line === '') return;
    const hasRoom = this.#reasons.has(line) || this.#reasons.size < LIMITS.maxFailureReasons - 1;
    const name = hasRoom ? line : OTHER_REASONS;
    this.#reasons.set(name, (this.#reasons.get(name) ?? 0) + 1);
  }

  /** Most frequent first. */
  get reasons(): FailureReason[] {
    return [...this.#reasons].map(([reason, count]) => ({ reason, count })).sort((a, b) => b.count - a.count);
  }
}
