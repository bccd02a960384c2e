import { describe, expect, it } from 'vitest';
import { Histogram, sameHistogram } from '../metrics/histogram.js';
import { HISTOGRAM_NAMES } from '../metrics/interval.js';
import { intervalOf, observed, randomObservations } from '../testing/observed.js';
import { FUZZ_SEED, Random } from '../testing/random.js';
import { latencyAtRankUs, latencyOf } from './latency.js';
import { RunTotals } from './run-totals.js';

function totalsOf(...seen: Parameters<typeof observed>[0][]): RunTotals {
  const totals = new RunTotals();
  for (const [number, one] of seen.entries()) totals.addInterval(intervalOf(number, one));
  return totals;
}

describe('RunTotals', () => {
  it(`gives the same whatever the order of the intervals (seed ${FUZZ_SEED})`, () => {
    const random = new Random(FUZZ_SEED);
    const seen = Array.from({ length: 12 }, () => {
      const observations = randomObservations(random);
      return { ...observations, counters: observations.counters.map((count) => Math.min(count, 2 ** 40)) };
    });
    const forwards = new RunTotals();
    for (const one of seen) forwards.add(one);
    const backwards = new RunTotals();
    for (const one of seen.toReversed()) backwards.add(one);
    expect(backwards.counters).toEqual(forwards.counters);
    expect(backwards.statusRecord()).toEqual(forwards.statusRecord());
    expect(backwards.timeTakenUs).toBe(forwards.timeTakenUs);
    for (const name of HISTOGRAM_NAMES) {
      const same = sameHistogram(backwards.histogram(name).toSparse(), forwards.histogram(name).toSparse());
      expect(same, name).toBe(true);
    }
  });

  it('takes the earliest send and the latest event of all shards, whichever come first', () => {
    const totals = totalsOf(
      { gauges: { firstSendUs: 900, lastEventUs: 1_000 } },
      {},
      { gauges: { firstSendUs: 20, lastEventUs: 5_000 } },
    );
    expect(totals).toMatchObject({ firstSendUs: 20, lastEventUs: 5_000 });
  });

  it('counts the time taken from the start instant, plus the duration of the probe before it', () => {
    expect(totalsOf({ gauges: { firstSendUs: 20, lastEventUs: 5_000 } }).timeTakenUs).toBe(5_000);
    const withProbe = totalsOf(
      { gauges: { firstSendUs: -300, lastEventUs: 0 } },
      { gauges: { firstSendUs: 20, lastEventUs: 5_000 } },
    );
    expect(withProbe.timeTakenUs).toBe(5_300);
    expect(totalsOf({ gauges: { firstSendUs: -300, lastEventUs: 0 } }).timeTakenUs).toBe(300);
    expect(totalsOf({}).timeTakenUs).toBe(0);
  });

  it('adds CPU time, and keeps the largest busy share and lag', () => {
    const totals = totalsOf(
      { gauges: { cpuUs: 10, busyShare: 0.9, sendLagMaxUs: 1 } },
      { gauges: { cpuUs: 5, busyShare: 0.2, sendLagMaxUs: 7 } },
    );
    expect(totals).toMatchObject({ cpuUs: 15, busyShareMax: 0.9, sendLagMaxUs: 7 });
  });

  it('puts total together from fresh and reused, and processing from freshProcessing and reused', () => {
    const latencies = totalsOf({
      samples: { connect: [100], wait: [5, 6], fresh: [150], freshProcessing: [50], reused: [40, 60] },
    }).latencies();
    expect(latencies.total).toMatchObject({ count: 3, minUs: 40, maxUs: 150 });
    expect(latencies.processing).toMatchObject({ count: 3, minUs: 40, maxUs: 60, meanUs: 50 });
    expect(latencies.connect).toMatchObject({ count: 1, minUs: 100 });
    expect(latencies.wait.count).toBe(2);
    expect(latencies.fresh.count).toBe(1);
    expect(latencies.reused.count).toBe(2);
  });

  it('lists status codes in rising order', () => {
    const totals = totalsOf(
      { statusCounts: [[503, 1]] },
      {
        statusCounts: [
          [200, 2],
          [503, 1],
        ],
      },
    );
    expect(Object.entries(totals.statusRecord())).toEqual([
      ['200', 2],
      ['503', 2],
    ]);
  });
});

describe('latencyOf', () => {
  it('is all zeros, and fit for JSON, while nothing is recorded', () => {
    const latency = latencyOf(new Histogram());
    expect(latency).toMatchObject({ count: 0, minUs: 0, meanUs: 0, maxUs: 0, p99Us: 0, bins: [] });
    expect(JSON.parse(JSON.stringify(latency))).toEqual(latency);
    expect(latencyAtRankUs(latency, 1)).toBe(0);
  });

  it(`keeps in its bins what the histogram knows of every rank (seed ${FUZZ_SEED})`, () => {
    const random = new Random(FUZZ_SEED);
    const histogram = new Histogram();
    for (let i = 0; i < 500; i++) histogram.record(random.magnitude(3_600_000_000));
    const latency = latencyOf(histogram);
    for (let rank = 1; rank <= 500; rank++) {
      expect(latencyAtRankUs(latency, rank)).toBe(histogram.valueAtRankUs(rank));
    }
    expect(latencyAtRankUs(latency, 0)).toBe(histogram.valueAtRankUs(1));
    expect(latencyAtRankUs(latency, 501)).toBe(histogram.maxUs);
  });
});
