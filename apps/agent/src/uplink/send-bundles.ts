import { encodeBundle, LIMITS } from '@broadside/shared';
import type { IntervalOutbox } from './interval-outbox.js';

/**
 * Sends what is in the outboxes of an agent's attempts, the oldest frame of each in one message, until nothing is
 * left or the connection has no room.
 * @param send false when the message was not taken; then its frames stay where they are.
 */
export function sendBundles(
  outboxes: readonly IntervalOutbox[],
  send: (message: Uint8Array) => boolean,
): void {
  for (;;) {
    const taken = nextOf(outboxes);
    const [first] = taken;
    if (first === undefined) return;
    const message = taken.length === 1 ? first.frame : encodeBundle(taken.map(({ frame }) => frame));
    if (!send(message)) return;
    for (const { outbox } of taken) outbox.markSent();
  }
}

interface Taken {
  readonly outbox: IntervalOutbox;
  readonly frame: Uint8Array;
}

/** One frame of each outbox, as many as fit into a message; one that is larger goes alone. */
function nextOf(outboxes: readonly IntervalOutbox[]): Taken[] {
  const taken: Taken[] = [];
  let bytes = 0;
  for (const outbox of outboxes) {
    const frame = outbox.peek();
    if (frame === undefined) continue;
    bytes += frame.length;
    if (taken.length > 0 && bytes > LIMITS.maxBundleBytes) break;
    taken.push({ outbox, frame });
    if (taken.length === LIMITS.maxBundledFrames) break;
  }
  return taken;
}
