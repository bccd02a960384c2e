import {
  COUNTER,
  decodeInterval,
  encodeInterval,
  HISTOGRAM_NAMES,
  Histogram,
  newCounters,
} from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import { plainInterval } from '../testing/plain-interval.js';
import { IntervalOutbox } from './interval-outbox.js';
import { shrinkOutboxes } from './shrink-outboxes.js';

/** A frame with one completed request, and as many buckets as it is told. */
function addFrame(outbox: IntervalOutbox, number: number, buckets: number): void {
  const counters = newCounters();
  counters[COUNTER.completed] = 1;
  const latency = new Histogram();
  for (let i = 0; i < buckets; i++) latency.record(1 + i);
  const histograms = HISTOGRAM_NAMES.map(() => latency.toSparse());
  const bytes = encodeInterval(plainInterval({ number, counters, histograms }));
  outbox.add({ number, span: 1, bytes });
}

function bytesOf(outboxes: readonly IntervalOutbox[]): number {
  return outboxes.reduce((sum, outbox) => sum + outbox.sizeBytes, 0);
}

/** Takes everything out. @returns bytes, slices and requests of it. */
function drain(outbox: IntervalOutbox): { bytes: number; slices: number; completed: number } {
  const sum = { bytes: 0, slices: 0, completed: 0 };
  for (let bytes = outbox.peek(); bytes !== undefined; bytes = outbox.peek()) {
    const { number, span, counters } = decodeInterval(bytes);
    sum.bytes += bytes.length;
    sum.slices += span;
    sum.completed += counters[COUNTER.completed] ?? 0;
    outbox.markSent();
    outbox.acknowledge(number);
  }
  return sum;
}

describe('the outboxes of an agent', () => {
  it('stay within their bytes together, and lose no count', () => {
    const outboxes = [new IntervalOutbox(), new IntervalOutbox(), new IntervalOutbox()];
    const maxBytes = 60_000;
    for (let number = 0; number < 100; number++) {
      for (const [i, outbox] of outboxes.entries()) {
        // One of them has much larger frames, and pays for them.
        addFrame(outbox, number, i === 0 ? 200 : 3);
        shrinkOutboxes(outboxes, maxBytes);
        expect(bytesOf(outboxes)).toBeLessThanOrEqual(maxBytes);
      }
    }
    expect(outboxes[0]?.mergedCount).toBeGreaterThan(outboxes[1]?.mergedCount ?? 0);
    for (const outbox of outboxes) {
      const { sizeBytes } = outbox;
      expect(drain(outbox)).toEqual({ bytes: sizeBytes, slices: 100, completed: 100 });
      expect([outbox.size, outbox.sizeBytes]).toEqual([0, 0]);
    }
  });

  it('keep what was sent already as it is, even beyond that', () => {
    const outbox = new IntervalOutbox();
    for (let number = 0; number < 20; number++) {
      addFrame(outbox, number, 50);
      if (number < 10) outbox.markSent();
    }
    shrinkOutboxes([outbox], 1);
    expect([outbox.size, outbox.mergedCount]).toEqual([11, 9]);
    shrinkOutboxes([outbox], 1);
    expect(outbox.size).toBe(11);
  });

  it('are left alone while there is room', () => {
    const outbox = new IntervalOutbox();
    for (let number = 0; number < 20; number++) addFrame(outbox, number, 50);
    shrinkOutboxes([outbox]);
    expect(outbox.mergedCount).toBe(0);
    shrinkOutboxes([], 0);
  });
});
