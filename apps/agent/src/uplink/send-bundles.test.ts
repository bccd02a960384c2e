import { decodeInterval, encodeInterval, framesOf, type Interval, LIMITS } from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import { IntervalOutbox } from './interval-outbox.js';
import { sendBundles } from './send-bundles.js';

function outboxOf(shardIndex: number, count: number): IntervalOutbox {
  const outbox = new IntervalOutbox();
  for (let number = 0; number < count; number++) {
    const interval: Interval = {
      runId: 'r',
      shardIndex,
      attempt: 1,
      number,
      span: 1,
      isLast: false,
      counters: new Float64Array(0),
      statusCounts: new Map(),
      histograms: [],
      gauges: new Float64Array(0),
    };
    outbox.add({ number, span: 1, isWarmup: false, bytes: encodeInterval(interval) });
  }
  return outbox;
}

/** Shard and number of each frame of a message. */
function named(message: Uint8Array): string[] {
  return framesOf(message).map((frame) => {
    const { shardIndex, number } = decodeInterval(frame);
    return `${shardIndex}:${number}`;
  });
}

describe('the frames of an agent', () => {
  it('go out together, one of each slot in a message', () => {
    const messages: string[][] = [];
    sendBundles(
      [outboxOf(0, 2), outboxOf(1, 1), outboxOf(2, 2)],
      (message) => messages.push(named(message)) > 0,
    );
    expect(messages).toEqual([
      ['0:0', '1:0', '2:0'],
      ['0:1', '2:1'],
    ]);
  });

  it('stay where they are when the connection has no room', () => {
    const outboxes = [outboxOf(0, 1), outboxOf(1, 1)];
    sendBundles(outboxes, () => false);
    const messages: string[][] = [];
    sendBundles(outboxes, (message) => messages.push(named(message)) > 0);
    expect(messages).toEqual([['0:0', '1:0']]);
  });

  it('are spread over messages when they are large', () => {
    const large = (shardIndex: number): IntervalOutbox => {
      const outbox = new IntervalOutbox();
      const bytes = new Uint8Array(Math.ceil(LIMITS.maxBundleBytes * 0.6)).fill(shardIndex);
      outbox.add({ number: 0, span: 1, isWarmup: false, bytes });
      return outbox;
    };
    const sizes: number[] = [];
    sendBundles([large(0), large(1)], (message) => sizes.push(message.length) > 0);
    expect(sizes).toHaveLength(2);
  });
});
