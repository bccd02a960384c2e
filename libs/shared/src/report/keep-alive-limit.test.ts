import { describe, expect, it } from 'vitest';
import { Histogram } from '../metrics/histogram.js';
import { FUZZ_SEED, Random } from '../testing/random.js';
import { keepAliveLimitOf } from './keep-alive-limit.js';
import { countsOf } from './latency.js';

function limitIn(unannounced: readonly number[], idle: readonly number[] = []) {
  const distribution = (values: readonly number[]) => {
    const histogram = new Histogram();
    for (const value of values) histogram.record(value);
    return countsOf(histogram);
  };
  const none = distribution([]);
  return keepAliveLimitOf({
    requestsPerConnection: {
      closedByUs: distribution([17, 3, 9_000]),
      closedAnnounced: none,
      closedUnannounced: distribution(unannounced),
      closedIdle: distribution(idle),
    },
  });
}

const times = (value: number, count: number): number[] => Array.from({ length: count }, () => value);

describe('keepAliveLimitOf', () => {
  it('finds the limit behind the failures of the seed reports', () => {
    expect(limitIn(times(10_000, 99))).toEqual({
      requests: 10_000,
      isExact: true,
      closes: 99,
      allCloses: 99,
    });
    expect(limitIn(times(100, 9))).toMatchObject({ requests: 100, isExact: true });
    expect(limitIn(times(1, 50))).toMatchObject({ requests: 1 });
  });

  it('finds it among a tenth of other closes, and gives the roundest number where a bucket hides it', () => {
    const noise = [3, 17, 250, 4_000, 9_100];
    expect(limitIn([...times(10_000, 95), ...noise])).toEqual({
      requests: 10_000,
      isExact: false,
      closes: 95,
      allCloses: 100,
    });
    expect(limitIn([...times(1_000, 95), ...noise])).toMatchObject({ requests: 1_000, isExact: true });
  });

  it('counts closes of idle connections too, but for those after one request', () => {
    expect(limitIn([], times(500, 20))).toMatchObject({ requests: 500, closes: 20 });
    expect(limitIn(times(500, 10), times(500, 20))).toMatchObject({ requests: 500, closes: 30 });
    expect(limitIn([], times(1, 50))).toBeUndefined();
    expect(limitIn(times(500, 10), times(1, 50))).toMatchObject({ requests: 500, allCloses: 10 });
  });

  it.each([
    ['no closes', []],
    ['two closes', times(100, 2)],
    ['connections that never carried anything', times(0, 50)],
    ['two numbers', [...times(100, 50), ...times(200, 50)]],
    ['a fifth of others', [...times(100, 80), ...Array.from({ length: 20 }, (_, i) => i * 31 + 1)]],
  ])('finds nothing in %s', (_, values) => {
    expect(limitIn(values)).toBeUndefined();
  });

  it(`finds nothing in closes by time or by chance, and every limit under noise (FUZZ_SEED=${FUZZ_SEED})`, () => {
    const random = new Random(FUZZ_SEED);
    for (let round = 0; round < 300; round++) {
      const mean = 50 + random.int(0, 20_000);
      const byTime = Array.from({ length: random.int(5, 200) }, () =>
        Math.ceil(mean * (0.7 + 0.6 * random.next())),
      );
      expect(limitIn(byTime)).toBeUndefined();
      const limit = random.int(2, 2_000);
      const closes = random.int(30, 500);
      const others = Array.from({ length: random.int(0, Math.floor(closes / 12)) }, () =>
        random.int(0, 50_000),
      );
      const found = limitIn([...times(limit, closes), ...others]);
      expect(found).toMatchObject({ requests: limit, isExact: true });
    }
  });
});
