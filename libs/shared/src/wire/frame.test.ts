import { describe, expect, it } from 'vitest';
import { LIMITS } from '../limits.js';
import { COUNTER_NAMES, countersOfVersion } from '../metrics/counters.js';
import {
  BUCKET_COUNT,
  bucketIndexOf,
  HIGHEST_VALUE_US,
  Histogram,
  lowestValueOf,
} from '../metrics/histogram.js';
import { HISTOGRAM_NAMES, type Interval, type ShardTotals } from '../metrics/interval.js';
import { intervalOf, observed, randomObservations } from '../testing/observed.js';
import { FUZZ_SEED, Random } from '../testing/random.js';
import { FrameError } from './byte-reader.js';
import { ByteWriter } from './byte-writer.js';
import { decodeInterval, decodeTotals, encodeInterval, encodeTotals, IntervalDecoder } from './frame.js';
import { OLDEST_READABLE_FRAME, PROTOCOL_VERSION } from './protocol-version.js';

function randomInterval(random: Random): Interval {
  return {
    runId: 'r'.repeat(random.int(1, 64)),
    shardIndex: random.int(0, LIMITS.maxShards - 1),
    attempt: random.int(1, 9),
    number: random.magnitude(1_000_000),
    span: random.int(1, 5),
    isLast: random.next() < 0.5,
    ...randomObservations(random),
  };
}

/** What decoding must do with any bytes: give a value, or throw a FrameError. */
function outcomeOf(decode: (bytes: Uint8Array) => unknown, bytes: Uint8Array): 'decoded' | 'refused' {
  try {
    decode(bytes);
    return 'decoded';
  } catch (error) {
    if (error instanceof FrameError) return 'refused';
    throw error;
  }
}

describe('interval frame', () => {
  it(`comes back as it was sent (seed ${FUZZ_SEED})`, () => {
    const random = new Random(FUZZ_SEED);
    for (let round = 0; round < 300; round++) {
      const interval = randomInterval(random);
      expect(decodeInterval(encodeInterval(interval))).toEqual(interval);
    }
  });

  it(`is decoded alike into arrays that were used before (seed ${FUZZ_SEED})`, () => {
    const random = new Random(FUZZ_SEED);
    const decoder = new IntervalDecoder();
    for (let round = 0; round < 300; round++) {
      const frame = encodeInterval(randomInterval(random));
      // Refused in the middle: nothing of it may be left.
      const cut = frame.subarray(0, random.int(0, frame.length - 1));
      expect(outcomeOf((bytes) => decoder.decode(bytes), cut)).toBe('refused');
      expect(decoder.decode(frame)).toEqual(decodeInterval(frame));
    }
  });

  it('is small for an interval in which nothing happened', () => {
    const frame = encodeInterval(intervalOf(0, {}));
    expect(frame.length).toBeLessThan(200);
    expect(decodeInterval(frame)).toEqual(intervalOf(0, {}));
  });

  it('fits its size limit even when every bucket of every histogram is in use', () => {
    const full = new Histogram();
    const highest = bucketIndexOf(HIGHEST_VALUE_US);
    for (let i = 0; i <= highest; i++) full.record(lowestValueOf(i), 100_000);
    const sparse = { ...full.toSparse(), sumUs: Number.MAX_SAFE_INTEGER };
    const interval: Interval = { ...intervalOf(0, {}), histograms: HISTOGRAM_NAMES.map(() => sparse) };
    const frame = encodeInterval(interval);
    expect(frame.length).toBeLessThan(LIMITS.maxFrameBytes);
    expect(decodeInterval(frame)).toEqual(interval);
  });

  it('is read from the middle of a larger buffer', () => {
    const frame = encodeInterval(intervalOf(7, { samples: { wait: [5, 6] } }));
    const larger = new Uint8Array(frame.length + 20).fill(0xff);
    larger.set(frame, 11);
    expect(decodeInterval(larger.subarray(11, 11 + frame.length))).toMatchObject({ number: 7 });
  });
});

describe('totals frame', () => {
  it(`comes back as it was sent (seed ${FUZZ_SEED})`, () => {
    const random = new Random(FUZZ_SEED);
    for (let round = 0; round < 100; round++) {
      const { number: intervals, span: _, isLast: __, ...rest } = randomInterval(random);
      const totals: ShardTotals = { ...rest, intervals };
      expect(decodeTotals(encodeTotals(totals))).toEqual(totals);
    }
  });

  it('is not taken for an interval, nor the other way round', () => {
    const interval = intervalOf(0, {});
    const totals: ShardTotals = { runId: 'r', shardIndex: 0, attempt: 1, intervals: 1, ...observed({}) };
    expect(() => decodeInterval(encodeTotals(totals))).toThrow('frame: kind 2 where 1 was expected');
    expect(() => decodeTotals(encodeInterval(interval))).toThrow('frame: kind 1 where 2 was expected');
  });
});

describe('decoding of bytes that are not a frame', () => {
  it('refuses every truncation', () => {
    const frame = encodeInterval(
      intervalOf(3, {
        counters: { sent: 300 },
        statusCounts: [[200, 5]],
        samples: { wait: [1, 5_000, 7_000_000], reused: [3] },
      }),
    );
    for (let length = 0; length < frame.length; length++) {
      expect(outcomeOf(decodeInterval, frame.subarray(0, length)), `first ${length} bytes`).toBe('refused');
    }
  });

  it('refuses bytes after the end', () => {
    const frame = encodeInterval(intervalOf(3, {}));
    const longer = new Uint8Array(frame.length + 1);
    longer.set(frame);
    expect(() => decodeInterval(longer)).toThrow('frame: 1 byte too many');
  });

  it(`decodes or refuses any mutation, and what it decodes is what it says (seed ${FUZZ_SEED})`, () => {
    const random = new Random(FUZZ_SEED);
    const decoded: Interval[] = [];
    const rounds = 10_000;
    for (let round = 0; round < rounds; round++) {
      const frame = encodeInterval(random.next() < 0.1 ? randomInterval(random) : SMALL);
      for (let i = random.int(1, 4); i > 0; i--) frame[random.int(0, frame.length - 1)] = random.int(0, 255);
      if (outcomeOf(decodeInterval, frame) === 'decoded') decoded.push(decodeInterval(frame));
    }
    expect(decoded.length).toBeGreaterThan(rounds / 20);
    expect(decoded.length).toBeLessThan((rounds * 19) / 20);
    for (const interval of decoded) expect(decodeInterval(encodeInterval(interval))).toEqual(interval);
  });

  it(`refuses noise (seed ${FUZZ_SEED})`, () => {
    const random = new Random(FUZZ_SEED);
    const start = encodeInterval(SMALL).subarray(0, 10);
    for (let round = 0; round < 5_000; round++) {
      const noise = Uint8Array.from({ length: random.int(0, 300) }, () => random.int(0, 255));
      if (noise.length > start.length && random.next() < 0.5) noise.set(start);
      expect(outcomeOf(decodeInterval, noise)).toBe('refused');
      expect(outcomeOf(decodeTotals, noise)).toBe('refused');
    }
  });

  it('takes no memory for a claimed number of buckets that cannot be there', () => {
    const frame = encodeInterval(intervalOf(0, {}));
    // The last histogram of this frame is empty: its size is the last byte.
    const claim = new Uint8Array(frame.length + 1);
    claim.set(frame);
    claim.set([0xff, 0x7f], frame.length - 1);
    expect(() => decodeInterval(claim)).toThrow('frame: tls has too many buckets');
  });

  it('refuses a frame above the size limit before it reads it', () => {
    expect(() => decodeInterval(new Uint8Array(LIMITS.maxFrameBytes + 1))).toThrow('frame: too large');
  });

  it('reads a frame that was stored before an update, and none of before all versions', () => {
    const numbered = COUNTER_NAMES.map((name, i) => [name, i + 1] as const);
    const interval = intervalOf(0, { counters: Object.fromEntries(numbered) });
    const frame = encodeInterval(interval);
    // Every number takes one byte here, so that what version 1 did not have can be cut out.
    const start = frame.indexOf(COUNTER_NAMES.length, 4) + 1;
    const known = countersOfVersion(OLDEST_READABLE_FRAME);
    const kept = numbered.filter(([name]) => known.includes(name)).map(([, value]) => value);
    const rest = frame.subarray(start + COUNTER_NAMES.length);
    const old = Uint8Array.from([...frame.subarray(0, start - 1), kept.length, ...kept, ...rest]);
    old[3] = OLDEST_READABLE_FRAME;
    const counters = Object.fromEntries(numbered.filter(([name]) => known.includes(name)));
    expect(decodeInterval(old)).toEqual(decodeInterval(encodeInterval(intervalOf(0, { counters }))));
    frame[3] = OLDEST_READABLE_FRAME;
    expect(() => decodeInterval(frame)).toThrow(`this side knows ${known.length}`);
    frame[3] = 0;
    expect(() => decodeInterval(frame)).toThrow('frame: protocol version 0');
  });

  it('names both versions when the other side speaks another protocol', () => {
    const frame = encodeInterval(intervalOf(0, {}));
    frame[3] = 99;
    expect(() => decodeInterval(frame)).toThrow(
      `frame: protocol version 99, this side speaks ${PROTOCOL_VERSION}`,
    );
  });

  it.each<[string, Partial<Interval>, string]>([
    ['a span of none', { span: 0 }, 'interval span is wrong'],
    ['an attempt of none', { attempt: 0 }, 'attempt is wrong'],
    ['a shard beyond the limit', { shardIndex: LIMITS.maxShards }, 'shard index 10000 is too large'],
    ['a status code that is none', { statusCounts: new Map([[99, 1]]) }, 'status code 99 is wrong'],
    [
      'too many status codes',
      { statusCounts: new Map(Array.from({ length: 501 }, (_, i) => [i + 100, 1])) },
      '501 status codes are too many',
    ],
    [
      'a gauge that is no number',
      { gauges: observed({ gauges: { cpuUs: Number.NaN } }).gauges },
      'cpuUs is not a number',
    ],
    ['extremes that cross', withHistogram({ minUs: 5, maxUs: 4 }), 'connect has impossible extremes'],
    ['a value beyond one hour', withHistogram({ maxUs: 3_600_000_001 }), 'connect has impossible extremes'],
    ['a sum of squares below zero', withHistogram({ sumOfSquaresUs2: -1 }), 'connect has no sum of squares'],
    ['an empty bucket', withHistogram({ counts: Float64Array.of(0) }), 'connect has an empty bucket'],
    [
      'a bucket beyond the last',
      withHistogram({ indexes: Uint16Array.of(BUCKET_COUNT) }),
      'connect has a bucket out of range',
    ],
    [
      'a minimum in another bucket',
      withHistogram({ minUs: 4 }),
      'connect has extremes outside of its buckets',
    ],
    [
      'a maximum in another bucket',
      withHistogram({ maxUs: 6 }),
      'connect has extremes outside of its buckets',
    ],
    ['a run id with a line break', { runId: 'a\nb' }, 'run id has a character that is not printable'],
  ])('refuses %s', (_, change, message) => {
    expect(() => decodeInterval(encodeInterval({ ...intervalOf(0, {}), ...change }))).toThrow(message);
  });

  it('refuses a status code that comes twice', () => {
    const frame = encodeInterval(
      intervalOf(0, {
        statusCounts: [
          [110, 1],
          [111, 1],
        ],
      }),
    );
    const second = frame.lastIndexOf(111);
    frame[second] = 110;
    expect(() => decodeInterval(frame)).toThrow('frame: status code 110 is wrong');
  });

  it('refuses a name list of another length', () => {
    const writer = new ByteWriter();
    const frame = encodeInterval(intervalOf(0, {}));
    // Magic, kind, version, "run-1" with its length, shard, attempt, number, span, flags: then the counters.
    for (const byte of frame.subarray(0, 15)) writer.u8(byte);
    writer.varint(3);
    expect(() => decodeInterval(writer.finish())).toThrow(/frame: 3 counters, this side knows \d+/);
  });
});

const SMALL = intervalOf(1, {
  counters: { sent: 5, completed: 5 },
  statusCounts: [[200, 5]],
  samples: { wait: [10, 20, 3_000], reused: [50] },
});

function withHistogram(change: object): Partial<Interval> {
  const histogram = new Histogram();
  histogram.record(5);
  return { histograms: [{ ...histogram.toSparse(), ...change }] };
}

describe('ByteWriter', () => {
  it.each([-1, 1.5, Number.NaN, 2 ** 53, Number.POSITIVE_INFINITY])(
    'refuses to write %s as an integer',
    (value) => {
      expect(() => new ByteWriter().varint(value)).toThrow(RangeError);
    },
  );

  it('grows as needed', () => {
    const writer = new ByteWriter(1);
    for (let i = 0; i < 1_000; i++) writer.f64(i);
    expect(writer.finish()).toHaveLength(8_000);
  });

  it('refuses a text beyond 255 characters', () => {
    expect(() => new ByteWriter().ascii('x'.repeat(256))).toThrow(RangeError);
  });
});
