import { describe, expect, it } from 'vitest';
import { balancedCounters, sampleReport } from '../../testing/observed.js';
import { scheduleTexts } from './schedule-texts.js';
import { summaryText } from './summary-text.js';

describe('scheduleTexts', () => {
  it('has nothing to say about a plain closed load', () => {
    expect(scheduleTexts(sampleReport({ seen: { counters: balancedCounters({ completed: 100 }) } }))).toEqual(
      [],
    );
  });

  it('says what a rate asked for, what was sent, and what waited or was given up', () => {
    const counters = balancedCounters({
      completed: 290,
      planned: 300,
      notSentNoConnection: 10,
      waitedForConnection: 29,
      retried: 1,
    });
    const report = sampleReport({
      plan: {
        rate: 10,
        duration: '30s',
        requests: undefined,
        arrivals: 'poisson',
        warmup: '5s',
        pipeline: 4,
      },
      seen: { counters, gauges: { firstSendUs: 5e6, lastEventUs: 34.9e6 } },
    });
    expect(scheduleTexts(report)).toEqual([
      'asked for 10/s, random arrivals: 300 planned, 290 sent (9.67/s)',
      '29 requests (10.0 %) waited for a free connection',
      '10 requests not sent: no connection became free',
      'warm-up of 5.00s before, in no total',
      'pipelines of 4 requests',
      '1 request sent once more',
    ]);
  });

  it('puts both latencies into the summary, corrected first', () => {
    const report = sampleReport({
      plan: { rate: 10, duration: '30s', requests: undefined },
      seen: {
        counters: balancedCounters({ completed: 3 }),
        samples: {
          reused: [100, 100, 100],
          wait: [90, 90, 90],
          corrected: [100, 100, 900],
          sendLag: [0, 0, 800],
        },
      },
    });
    const rows = summaryText(report).split('\n');
    const labels = rows
      .map((row) => /^(corrected|raw|total|send lag) /.exec(row)?.[1])
      .filter((label) => label);
    expect(labels).toEqual(['corrected', 'raw', 'send lag']);
    expect(report.latency.corrected).toMatchObject({ count: 3, p50Us: 100, maxUs: 900 });
  });

  it('takes the raw latency for the corrected one in a closed load, where both are the same', () => {
    const report = sampleReport({ seen: { samples: { fresh: [300], reused: [100, 200] } } });
    expect(report.latency.corrected).toEqual(report.latency.total);
    expect(report.latency.sendLag.count).toBe(0);
  });
});

describe('time taken of a schedule', () => {
  const seen = {
    counters: balancedCounters({ completed: 30 }),
    gauges: { firstSendUs: 0, lastEventUs: 29.01e6 },
  };

  it('is its duration at least, so that a low rate is not told too high', () => {
    const plan = { rate: 1, duration: '30s', requests: undefined, connections: 1 };
    expect(sampleReport({ plan, seen }).timeTakenUs).toBe(30e6);
  });

  it('is what it took where its requests or somebody ended it', () => {
    const plan = { rate: 1, requests: 30, connections: 1 };
    expect(sampleReport({ plan, seen }).timeTakenUs).toBe(29.01e6);
    const stopped = { ...seen, counters: { ...seen.counters, planned: 40, notSentStopped: 10 } };
    const timed = { rate: 1, duration: '60s', requests: 40, connections: 1 };
    expect(sampleReport({ plan: timed, seen: stopped }).timeTakenUs).toBe(29.01e6);
  });

  it('leaves the warm-up out', () => {
    const warm = { ...seen, gauges: { firstSendUs: 5e6, lastEventUs: 15e6 } };
    const plan = { requests: 30, warmup: '5s', connections: 1 };
    expect(sampleReport({ plan, seen: warm }).timeTakenUs).toBe(10e6);
  });
});
