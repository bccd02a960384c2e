import {
  COUNTER,
  decodeInterval,
  encodeInterval,
  HISTOGRAM_NAMES,
  Histogram,
  type Interval,
  newCounters,
} from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import type { IntervalFrame } from '../slot/thread-message.js';
import { plainInterval } from '../testing/plain-interval.js';
import { IntervalOutbox } from './interval-outbox.js';

const SMALL = { maxFrames: 6, maxUnacknowledged: 3 };

function intervalOf(number: number, completed: number, isLast = false): Interval {
  const counters = newCounters();
  counters[COUNTER.completed] = completed;
  const latency = new Histogram();
  if (completed > 0) latency.record(100 + number, completed);
  return plainInterval({
    number,
    isLast,
    counters,
    statusCounts: new Map(completed > 0 ? [[200, completed]] : []),
    histograms: HISTOGRAM_NAMES.map(() => latency.toSparse()),
  });
}

function frameOf(number: number, completed = 1, isLast = false): IntervalFrame {
  return { number, span: 1, bytes: encodeInterval(intervalOf(number, completed, isLast)) };
}

/** Sends what may be sent, as the first number and the span of each frame. */
function sendAll(outbox: IntervalOutbox): string[] {
  const sent: string[] = [];
  for (let bytes = outbox.peek(); bytes !== undefined; bytes = outbox.peek()) {
    const { number, span } = decodeInterval(bytes);
    sent.push(`${number}+${span}`);
    outbox.markSent();
  }
  return sent;
}

/** A coordinator: keeps the first frame of each number, drops the others. */
class Store {
  readonly #seen = new Map<number, Interval>();

  take(bytes: Uint8Array): void {
    const interval = decodeInterval(bytes);
    if (!this.#seen.has(interval.number)) this.#seen.set(interval.number, interval);
  }

  /** Highest number up to which every slice is stored; −1 for none. */
  get acknowledged(): number {
    let next = 0;
    let last = -1;
    for (let found = this.#seen.get(next); found !== undefined; found = this.#seen.get(next)) {
      last = found.number;
      next = found.number + found.span;
    }
    return last;
  }

  get slices(): number[] {
    const intervals = [...this.#seen.values()].sort((a, b) => a.number - b.number);
    return intervals.flatMap(({ number, span }) => Array.from({ length: span }, (_, i) => number + i));
  }

  sum(): { completed: number; latencies: number; lasts: number } {
    let completed = 0;
    let lasts = 0;
    let latencies = 0;
    for (const interval of this.#seen.values()) {
      completed += interval.counters[COUNTER.completed] ?? 0;
      latencies += Histogram.from(...interval.histograms.slice(0, 1)).total;
      if (interval.isLast) lasts++;
    }
    return { completed, latencies, lasts };
  }
}

/** Deterministic numbers 0 ≤ x < 1 (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

describe('IntervalOutbox', () => {
  it('gives out frames in order, each once, and forgets them when they are acknowledged', () => {
    const outbox = new IntervalOutbox(SMALL);
    outbox.add(frameOf(0));
    outbox.add(frameOf(1));
    expect(sendAll(outbox)).toEqual(['0+1', '1+1']);
    expect(sendAll(outbox)).toEqual([]);
    outbox.acknowledge(0);
    expect(outbox.size).toBe(1);
    outbox.acknowledge(1);
    expect(outbox.size).toBe(0);
  });

  it('sends everything unacknowledged again after a reconnect, from the oldest on', () => {
    const outbox = new IntervalOutbox(SMALL);
    for (const number of [0, 1, 2]) outbox.add(frameOf(number));
    sendAll(outbox);
    outbox.acknowledge(0);
    outbox.rewind();
    expect(sendAll(outbox)).toEqual(['1+1', '2+1']);
  });

  it('holds frames back while too many wait for their acknowledgement', () => {
    const outbox = new IntervalOutbox(SMALL);
    for (const number of [0, 1, 2, 3]) outbox.add(frameOf(number));
    expect(sendAll(outbox)).toEqual(['0+1', '1+1', '2+1']);
    outbox.acknowledge(1);
    expect(sendAll(outbox)).toEqual(['3+1']);
  });

  it('merges the oldest never-sent neighbours on overflow and never touches a sent frame', () => {
    const outbox = new IntervalOutbox(SMALL);
    outbox.add(frameOf(0));
    outbox.add(frameOf(1));
    sendAll(outbox);
    for (let number = 2; number < 12; number++) outbox.add(frameOf(number, 1, number === 11));
    expect(outbox.size).toBe(6);
    outbox.rewind();
    const sent: string[] = [];
    for (let step = 0; step < 6; step++) {
      sent.push(...sendAll(outbox));
      outbox.acknowledge(Number(sent.at(-1)?.split('+')[0]));
    }
    expect(sent.slice(0, 2)).toEqual(['0+1', '1+1']);
    expect(sent.map((each) => Number(each.split('+')[1])).reduce((a, b) => a + b)).toBe(12);
    expect(outbox.size).toBe(0);
    expect(outbox.mergedCount).toBe(6);
  });

  it('does not believe an acknowledgement of what it never sent', () => {
    const outbox = new IntervalOutbox(SMALL);
    outbox.add(frameOf(0));
    outbox.acknowledge(99);
    expect(outbox.size).toBe(1);
    sendAll(outbox);
    outbox.add(frameOf(1));
    outbox.acknowledge(99);
    expect(sendAll(outbox)).toEqual(['1+1']);
  });

  it('delivers the same sums whatever the order of adding, losing, acknowledging and reconnecting', () => {
    const firstSeed = Date.now() % 1_000_000;
    for (let seed = firstSeed; seed < firstSeed + 25; seed++) {
      const random = randomFrom(seed);
      const outbox = new IntervalOutbox(SMALL);
      const store = new Store();
      const count = 20 + Math.floor(random() * 40);
      let added = 0;
      let completed = 0;
      let isConnected = true;
      const deliver = (): void => {
        const bytes = isConnected ? outbox.peek() : undefined;
        if (bytes === undefined) return;
        outbox.markSent();
        // A frame that leaves right before the connection breaks may or may not arrive; nothing after it does.
        if (random() < 0.15) isConnected = false;
        if (isConnected || random() < 0.5) store.take(bytes);
      };
      for (let step = 0; added < count || outbox.size > 0; step++) {
        expect(step, `seed ${seed} makes no progress`).toBeLessThan(10_000);
        const what = random();
        if (what < 0.3 && added < count) {
          const amount = Math.floor(random() * 5);
          completed += amount;
          outbox.add(frameOf(added, amount, ++added === count));
        } else if (what < 0.75) deliver();
        else if (what < 0.9 && isConnected) outbox.acknowledge(store.acknowledged);
        else if (!isConnected && random() < 0.5) {
          isConnected = true;
          outbox.rewind();
        }
        expect(outbox.size, `seed ${seed}`).toBeLessThanOrEqual(SMALL.maxFrames);
      }
      expect(store.sum(), `seed ${seed}`).toEqual({ completed, latencies: completed, lasts: 1 });
      expect(store.slices, `seed ${seed}`).toEqual(Array.from({ length: count }, (_, i) => i));
    }
  });

  it('never merges a frame of the warm-up with a measured one', () => {
    for (let warmups = 0; warmups <= 12; warmups++) {
      const outbox = new IntervalOutbox({ maxFrames: 4, maxUnacknowledged: 2 });
      for (let number = 0; number < 12; number++) {
        const isWarmup = number < warmups;
        const interval = { ...intervalOf(number, 1), ...(isWarmup ? { isWarmup } : {}) };
        outbox.add({ number, span: 1, isWarmup, bytes: encodeInterval(interval) });
      }
      let covered = 0;
      for (let bytes = outbox.peek(); bytes !== undefined; bytes = outbox.peek()) {
        const { number, span, isWarmup = false } = decodeInterval(bytes);
        covered += span;
        expect([number < warmups, number + span - 1 < warmups]).toEqual([isWarmup, isWarmup]);
        outbox.markSent();
        outbox.acknowledge(number);
      }
      expect(covered).toBe(12);
    }
  });

  it('refuses limits under which an overflow could find nothing to merge', () => {
    expect(() => new IntervalOutbox({ maxFrames: 6, maxUnacknowledged: 4 })).toThrow(RangeError);
    expect(() => new IntervalOutbox({ maxFrames: 3, maxUnacknowledged: 1 })).toThrow(RangeError);
  });
});
