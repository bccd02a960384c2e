import { COUNTER, type CounterRecord, newCounters } from '../metrics/counters.js';
import { FAILURE_CLASSES } from '../metrics/failure-class.js';
import { Histogram } from '../metrics/histogram.js';
import {
  GAUGE_NAMES,
  type GaugeName,
  HISTOGRAM_NAMES,
  type HistogramName,
  type Interval,
  type Observations,
} from '../metrics/interval.js';
import { type PlanInput, planSchema } from '../plan/plan.schema.js';
import type { Report } from '../report/report.schema.js';
import { RunTotals } from '../report/run-totals.js';
import { buildReport, type ReportInput } from '../report/summarize.js';
import { BROADSIDE_VERSION } from '../version.js';
import type { Random } from './random.js';

/** What a test wants a shard to have seen; all else is zero, and −1 for the two times. */
export interface Seen {
  readonly counters?: Partial<CounterRecord>;
  readonly statusCounts?: readonly (readonly [number, number])[];
  /** Samples in µs. */
  readonly samples?: Partial<Record<HistogramName, readonly number[]>>;
  readonly gauges?: Partial<Record<GaugeName, number>>;
}

export function observed(seen: Seen): Observations {
  const counters = newCounters();
  for (const [name, value] of Object.entries(seen.counters ?? {})) {
    counters[COUNTER[name as keyof CounterRecord]] = value;
  }
  return {
    counters,
    statusCounts: new Map(seen.statusCounts ?? []),
    histograms: HISTOGRAM_NAMES.map((name) => {
      const histogram = new Histogram();
      for (const sampleUs of seen.samples?.[name] ?? []) histogram.record(sampleUs);
      return histogram.toSparse();
    }),
    gauges: Float64Array.from(
      GAUGE_NAMES,
      (name) => seen.gauges?.[name] ?? (name === 'firstSendUs' || name === 'lastEventUs' ? -1 : 0),
    ),
  };
}

export const RUN_ID = 'run-1';

export function intervalOf(number: number, seen: Seen, more: Partial<Interval> = {}): Interval {
  return {
    runId: RUN_ID,
    shardIndex: 0,
    attempt: 1,
    number,
    span: 1,
    isLast: false,
    ...observed(seen),
    ...more,
  };
}

/** Counters of a run in which the books balance, from what completed and what failed. */
export function balancedCounters(counters: Partial<CounterRecord>): Partial<CounterRecord> {
  const failed = FAILURE_CLASSES.reduce((sum, name) => sum + (counters[name] ?? 0), 0);
  const ended = (counters.completed ?? 0) + failed;
  return {
    planned: ended,
    sent: ended,
    connectionsAsked: 1,
    connectionsOpened: 1,
    connectionsClosedByUs: 1,
    ...counters,
  };
}

/** Random observations that a frame can carry: many zeros, some values up to 2^53 − 1. */
export function randomObservations(random: Random): Observations {
  const counters = newCounters().map(() =>
    random.next() < 0.3 ? 0 : random.magnitude(random.next() < 0.1 ? Number.MAX_SAFE_INTEGER : 1e6),
  );
  const statusCounts = new Map<number, number>();
  for (let i = random.int(0, 5); i > 0; i--) statusCounts.set(random.int(100, 999), random.magnitude(1e9));
  const histograms = HISTOGRAM_NAMES.map(() => {
    const histogram = new Histogram();
    for (let i = random.int(0, 60); i > 0; i--) {
      histogram.record(random.magnitude(3_600_000_000), random.int(1, 1_000));
    }
    return histogram.toSparse();
  });
  const gauges = Float64Array.from(GAUGE_NAMES, () => (random.next() < 0.2 ? -1 : random.next() * 1e7));
  return { counters, statusCounts, histograms, gauges };
}

export interface SampleReport {
  readonly plan?: Partial<PlanInput>;
  readonly seen?: Seen;
  readonly input?: Partial<ReportInput>;
}

/** A report of one agent and one shard, made the way the coordinator makes it. */
export function sampleReport({ plan, seen = {}, input = {} }: SampleReport = {}): Report {
  const totals = new RunTotals();
  totals.add(observed(seen));
  return buildReport({
    plan: planSchema.parse({ target: 'http://127.0.0.1:8080/a?b=c', requests: 100, ...plan }),
    run: {
      id: RUN_ID,
      state: 'finished',
      createdAt: '2026-11-30T10:00:00.000Z',
      startedAt: '2026-11-30T10:00:01.000Z',
      endedAt: '2026-11-30T10:00:11.000Z',
    },
    target: { addresses: ['127.0.0.1'], server: 'nginx/1.22.1' },
    totals,
    seconds: [],
    agents: [sampleAgent('a1')],
    shards: [{ shardIndex: 0, attempt: 1, agentId: 'a1', connections: 10 }],
    requestBytes: 90,
    requestBodyBytes: 0,
    problems: [],
    ...input,
  });
}

export function sampleAgent(agentId: string): ReportInput['agents'][number] {
  return {
    agentId,
    name: agentId,
    version: BROADSIDE_VERSION,
    slots: 2,
    machine: {
      hostname: 'load-1',
      cpus: 2,
      cpuModel: 'test',
      memoryBytes: 1e9,
      os: 'Linux',
      arch: 'x64',
      node: 'v20.20.2',
    },
    clockOffsetUs: 0,
    clockUncertaintyUs: 10,
    lost: false,
  };
}
