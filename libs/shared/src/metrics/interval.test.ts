import { describe, expect, it } from 'vitest';
import { intervalOf, observed, randomObservations } from '../testing/observed.js';
import { FUZZ_SEED, Random } from '../testing/random.js';
import { COUNTER_NAMES, counterOf } from './counters.js';
import { Histogram, sameHistogram } from './histogram.js';
import {
  gaugeOf,
  HISTOGRAM_NAMES,
  type Interval,
  mergeGauges,
  mergeNeighbours,
  shardAttemptKey,
  UNKNOWN,
} from './interval.js';

describe('mergeNeighbours', () => {
  it('makes time coarser and keeps the end', () => {
    const merged = mergeNeighbours(intervalOf(3, {}, { span: 2 }), intervalOf(5, {}, { isLast: true }));
    expect(merged).toMatchObject({ number: 3, span: 3, isLast: true, runId: 'run-1', attempt: 1 });
  });

  it(`keeps every count and every histogram bin, whatever the order of merging (seed ${FUZZ_SEED})`, () => {
    const random = new Random(FUZZ_SEED);
    for (let round = 0; round < 20; round++) {
      const intervals = Array.from({ length: random.int(2, 6) }, (_, number): Interval => {
        // Sums of five random counters must stay exact, as real ones do.
        const seen = randomObservations(random);
        return {
          ...intervalOf(number, {}),
          ...seen,
          counters: seen.counters.map((count) => Math.min(count, 2 ** 40)),
        };
      });
      const fromLeft = intervals.reduce(mergeNeighbours);
      const fromRight = intervals.reduceRight((later, earlier) => mergeNeighbours(earlier, later));
      for (const merged of [fromLeft, fromRight]) {
        expect(merged).toMatchObject({ number: 0, span: intervals.length });
        for (const name of COUNTER_NAMES) {
          const sum = intervals.reduce((total, one) => total + counterOf(one.counters, name), 0);
          expect(counterOf(merged.counters, name)).toBe(sum);
        }
        for (const i of HISTOGRAM_NAMES.keys()) {
          const parts = intervals.map((one) => one.histograms[i]).filter((part) => part !== undefined);
          const part = merged.histograms[i];
          expect(part && sameHistogram(part, Histogram.from(...parts).toSparse())).toBe(true);
        }
      }
      expect(fromRight.statusCounts).toEqual(fromLeft.statusCounts);
      expect(gaugeOf(fromRight, 'busyShare')).toBeCloseTo(gaugeOf(fromLeft, 'busyShare'), 6);
    }
  });

  it('adds status codes without touching what it merges', () => {
    const earlier = intervalOf(0, { statusCounts: [[200, 1]] });
    const later = intervalOf(1, {
      statusCounts: [
        [200, 2],
        [500, 3],
      ],
    });
    expect(mergeNeighbours(earlier, later).statusCounts).toEqual(
      new Map([
        [200, 3],
        [500, 3],
      ]),
    );
    expect(earlier.statusCounts).toEqual(new Map([[200, 1]]));
  });
});

describe('mergeGauges', () => {
  const spanned = (gauges: Parameters<typeof observed>[0]['gauges'], span = 1) => ({
    gauges: observed({ gauges: gauges ?? {} }).gauges,
    span,
  });

  it('treats each gauge by its rule', () => {
    const merged = mergeGauges(
      spanned(
        {
          inFlight: 9,
          openConnections: 8,
          openConnectionsMax: 9,
          busyShare: 0.9,
          cpuUs: 100,
          sendLagMaxUs: 50,
          firstSendUs: 5,
          lastEventUs: 900,
        },
        3,
      ),
      spanned({
        inFlight: 1,
        openConnections: 2,
        openConnectionsMax: 8,
        busyShare: 0.1,
        cpuUs: 11,
        sendLagMaxUs: 7,
        firstSendUs: 1_000,
        lastEventUs: 1_900,
      }),
    );
    const { gauges: expected } = spanned({
      inFlight: 1,
      openConnections: 2,
      openConnectionsMax: 9,
      busyShare: 0.7,
      cpuUs: 111,
      sendLagMaxUs: 50,
      firstSendUs: 5,
      lastEventUs: 1_900,
    });
    for (const [i, value] of expected.entries()) expect(merged[i]).toBeCloseTo(value, 12);
  });

  it('adds, maximises and averages what is known, and takes the known side where one is not', () => {
    const known = {
      runDelayUs: 30,
      stealShare: 0.2,
      involuntarySwitches: 4,
      gcPauseUs: 500,
      descriptors: 40,
    };
    const more = { runDelayUs: 5, stealShare: 0.6, involuntarySwitches: 1, gcPauseUs: 50, descriptors: 39 };
    const unknown = Object.fromEntries(Object.keys(known).map((name) => [name, UNKNOWN]));
    const { gauges: expected } = spanned({
      runDelayUs: 35,
      stealShare: 0.3,
      involuntarySwitches: 5,
      gcPauseUs: 550,
      descriptors: 40,
    });
    const merged = mergeGauges(spanned(known, 3), spanned(more));
    for (const [i, value] of expected.entries()) expect(merged[i]).toBeCloseTo(value, 12);
    for (const [earlier, later] of [
      [known, unknown],
      [unknown, known],
    ]) {
      expect(mergeGauges(spanned(earlier), spanned(later))).toEqual(spanned(known).gauges);
    }
    expect(mergeGauges(spanned(unknown), spanned(unknown))).toEqual(spanned(unknown).gauges);
  });

  it('passes over times that there are none of, and keeps those before the start instant', () => {
    const none = spanned({});
    const probe = spanned({ firstSendUs: -350, lastEventUs: -20 });
    for (const merged of [mergeGauges(none, probe), mergeGauges(probe, none)]) {
      expect(merged).toEqual(probe.gauges);
    }
  });
});

describe('shardAttemptKey', () => {
  it('tells attempts apart', () => {
    expect(shardAttemptKey({ runId: 'r', shardIndex: 1, attempt: 2 })).toBe('r.1.2');
  });
});
