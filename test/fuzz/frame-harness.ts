import {
  addCounters,
  decodeInterval,
  encodeInterval,
  FrameError,
  GAUGE_NAMES,
  HISTOGRAM_NAMES,
  Histogram,
  type Interval,
  newCounters,
} from '@broadside/shared';
import { type Chance, type FuzzHarness, mutate } from './fuzz-harness.js';

const SAMPLES = 64;
const MAX_BYTES = 16_384;

/**
 * Whatever the bytes, decoding gives an interval or a FrameError. What it gives is encoded and decoded to the same
 * again, and its numbers can be added to those of others.
 */
export function frameHarness(decode: (bytes: Uint8Array) => Interval = decodeInterval): FuzzHarness {
  return {
    name: 'interval frame',
    shortRounds: 20_000,
    longRounds: 1_000_000,
    begin: (chance) => {
      const samples = Array.from({ length: SAMPLES }, () => encodeInterval(intervalOf(chance)));
      const bytes = new Uint8Array(MAX_BYTES);
      return () => {
        const slot = chance.below(SAMPLES);
        if (chance.isOneIn(64)) samples[slot] = encodeInterval(intervalOf(chance));
        const sample = samples[slot] ?? new Uint8Array();
        bytes.set(sample);
        const length = mutate(bytes, sample.length, chance);
        const interval = decodedOrRefused(decode, bytes.slice(0, length));
        if (interval !== undefined) expectSound(interval);
      };
    },
  };
}

function decodedOrRefused(decode: (bytes: Uint8Array) => Interval, bytes: Uint8Array): Interval | undefined {
  try {
    return decode(bytes);
  } catch (error) {
    if (error instanceof FrameError) return undefined;
    throw error;
  }
}

function expectSound(interval: Interval): void {
  const once = encodeInterval(interval);
  const twice = encodeInterval(decodeInterval(once));
  if (Buffer.compare(once, twice) !== 0) throw new Error('an accepted frame changes when it is sent on');
  const sum = newCounters();
  addCounters(sum, interval.counters);
  for (const value of sum) {
    if (!Number.isSafeInteger(value) || value < 0) throw new Error(`a counter of ${value} was accepted`);
  }
  for (const { indexes, counts, minUs, maxUs } of interval.histograms) {
    if (indexes.length > 0 && !(minUs >= 0 && minUs <= maxUs))
      throw new Error(`extremes ${minUs} … ${maxUs}`);
    for (let i = 0; i < counts.length; i++) {
      if (!((counts[i] ?? 0) > 0)) throw new Error('an empty bucket was accepted');
      if (i > 0 && !((indexes[i] ?? 0) > (indexes[i - 1] ?? 0))) throw new Error('buckets out of order');
    }
  }
}

function intervalOf(chance: Chance): Interval {
  return {
    runId: 'r'.repeat(1 + chance.below(30)),
    shardIndex: chance.below(1_000),
    attempt: 1 + chance.below(3),
    number: chance.below(100_000),
    span: 1 + chance.below(3),
    isLast: chance.isOneIn(2),
    counters: newCounters().map(() => (chance.isOneIn(2) ? 0 : chance.below(2 ** (1 + chance.below(50))))),
    statusCounts: new Map([[100 + chance.below(900), 1 + chance.below(1_000)]]),
    gauges: Float64Array.from(GAUGE_NAMES, () => (chance.isOneIn(4) ? -1 : chance.below(10_000_000))),
    histograms: HISTOGRAM_NAMES.map(() => histogramOf(chance).toSparse()),
  };
}

function histogramOf(chance: Chance): Pick<Histogram, 'toSparse'> {
  const histogram = SCRATCH;
  histogram.counts.fill(0);
  const fresh = Object.assign(histogram, {
    minUs: Number.POSITIVE_INFINITY,
    maxUs: -1,
    sumUs: 0,
    sumOfSquaresUs2: 0,
  });
  for (let left = chance.below(6); left > 0; left--) fresh.record(chance.below(2 ** (1 + chance.below(31))));
  return fresh;
}

/** One for all, because each is 23,552 counts long; what it holds is copied out before it is used again. */
const SCRATCH = new Histogram();
