import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  COUNTER,
  encodeInterval,
  GAUGE_NAMES,
  HISTOGRAM_NAMES,
  Histogram,
  type Interval,
  IntervalDecoder,
  newCounters,
} from '@broadside/shared';
import { expect, it } from 'vitest';
import { IntervalCoverage } from './interval-coverage.js';
import { IntervalMerger } from './interval-merger.js';

const SHARDS = 2;
/** From then on the rows of the report are folded, and nothing may grow any more. */
const FIRST_SECONDS = 3_700;
const SECONDS = 12_000;
const MIB = 1_048_576;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function heapBytes(): number {
  collectGarbage();
  // Array buffers are freed behind the collection, and the next one waits for that.
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

function intervalOf(shardIndex: number, number: number): Interval {
  const counters = newCounters();
  counters[COUNTER.completed] = 3;
  const reused = new Histogram();
  for (let i = 0; i < 3; i++) reused.record(1_000 + ((number * 7 + i) % 5_000));
  return {
    runId: 'r',
    shardIndex,
    attempt: 1,
    number,
    span: 1,
    isLast: number === SECONDS - 1,
    counters,
    statusCounts: new Map([[200, 3]]),
    histograms: HISTOGRAM_NAMES.map((name) => (name === 'reused' ? reused : new Histogram()).toSparse()),
    gauges: new Float64Array(GAUGE_NAMES.length),
  };
}

it('a run of hours takes no more memory than one of an hour', { timeout: 120_000 }, () => {
  const merger = new IntervalMerger({ shardCount: SHARDS });
  const stored = Array.from({ length: SHARDS }, () => new IntervalCoverage());
  const decoder = new IntervalDecoder();
  // The same few frames again and again, with other numbers: making them up takes longer than merging them.
  const frames = Array.from({ length: 64 }, (_, i) => encodeInterval(intervalOf(i % SHARDS, i)));
  let afterAnHour = 0;
  for (let number = 0; number < SECONDS; number++) {
    for (let shardIndex = 0; shardIndex < SHARDS; shardIndex++) {
      const seen = decoder.decode(
        frames[(number * SHARDS + shardIndex) % frames.length] ?? new Uint8Array(0),
      );
      const interval = { ...seen, shardIndex, number, isLast: number === SECONDS - 1 };
      merger.accept(interval);
      stored[shardIndex]?.accept(interval);
    }
    merger.takeClosed();
    if (number === FIRST_SECONDS) afterAnHour = heapBytes();
  }
  expect(heapBytes() - afterAnHour).toBeLessThan(4 * MIB);
  expect(merger.totals.counter('completed')).toBe(SHARDS * SECONDS * 3);
  expect(stored.every((coverage) => coverage.isComplete)).toBe(true);
});
