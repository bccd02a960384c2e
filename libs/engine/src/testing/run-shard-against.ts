import {
  addCounters,
  addStatusCounts,
  type CounterName,
  counterOf,
  FAILURE_CLASSES,
  type FailureClass,
  type Fatal,
  HISTOGRAM_NAMES,
  Histogram,
  type HistogramName,
  type Interval,
  LIMITS,
  ledgerProblems,
  newCounters,
  PROTOCOL_VERSION,
  type ProbeResult,
  type Shard,
  sameHistogram,
} from '@broadside/shared';
import { monotonicClock } from '../clock.js';
import { runShard, type ShardEnd, type ShardRunOptions } from '../engine.js';
import { ShardControl } from '../shard-control.js';

export type ShardOverrides = Partial<Omit<Shard, 'target' | 'request'>> & {
  readonly target?: Partial<Shard['target']>;
  readonly request?: Partial<Shard['request']>;
};

/** A shard with keep-alive over HTTP/1.1 for one connection and one request, unless told otherwise. */
export function shardFor(port: number, overrides: ShardOverrides = {}): Shard {
  const { target, request, ...rest } = overrides;
  return {
    runId: 'run-1',
    shardIndex: 0,
    attempt: 1,
    protocol: PROTOCOL_VERSION,
    shardCount: 1,
    target: { scheme: 'http', host: '127.0.0.1', port, path: '/', ...target },
    request: { method: 'GET', httpVersion: '1.1', headerLines: ['Host: x'], ...request },
    keepAlive: true,
    connections: 1,
    timeoutMs: 5_000,
    maxReplyHeaderBytes: LIMITS.defaultReplyHeaderBytes,
    maxReplyBodyBytes: LIMITS.defaultReplyBodyBytes,
    checkLength: false,
    failOnStatus: true,
    onSocketError: 'continue',
    probe: false,
    ...rest,
  };
}

export interface FinishedRun {
  readonly refused: Fatal | undefined;
  readonly probed: ProbeResult | undefined;
  readonly intervals: readonly Interval[];
  readonly end: ShardEnd;
  count(name: CounterName): number;
  /** Failure classes that are not 0. */
  readonly failures: Partial<Record<FailureClass, number>>;
  histogram(name: HistogramName): Histogram;
}

export interface RunHooks extends Partial<Omit<ShardRunOptions, 'shard' | 'sink' | 'control'>> {
  /** How long ago the start instant was when the start is ordered, and how long after it the load begins. */
  readonly late?: { readonly sinceUs: number; readonly fromUs: number };
  /** Called when the start was ordered; may stop the run later. */
  readonly onStarted?: (stop: () => void) => void;
  readonly onInterval?: (interval: Interval, stop: (stopAtUs?: number) => void) => void;
}

/**
 * Runs a shard to its end, with a probe where it asks for one, and checks what must hold for every run: the
 * ledger after each interval and at the end, and measured intervals that add up to the totals bin
 * for bin.
 * @throws when the books do not balance.
 */
export async function runShardAgainst(shard: Shard, hooks: RunHooks = {}): Promise<FinishedRun> {
  const { late = { sinceUs: 0, fromUs: 0 }, onStarted, onInterval, ...given } = hooks;
  const control = new ShardControl();
  const intervals: Interval[] = [];
  let refused: Fatal | undefined;
  let probed: ProbeResult | undefined;
  let end: ShardEnd | undefined;
  const stop = (stopAtUs?: number): void => {
    control.stop(stopAtUs);
    run.wake();
  };
  const start = (referenceBytes?: number): void => {
    const startAtUs = (given.clock ?? monotonicClock).nowUs() - late.sinceUs;
    control.start(startAtUs, referenceBytes, startAtUs + late.fromUs);
    run.wake();
    onStarted?.(stop);
  };
  const run = runShard({
    refusalOf: () => undefined,
    ...given,
    shard,
    control,
    sink: {
      onReady: () => {
        if (!shard.probe) queueMicrotask(start);
        else control.probe();
      },
      onRefused: (fatal) => (refused = fatal),
      onProbed: (result) => {
        probed = result;
        if (result.ok) start(result.bodyBytes);
        else stop();
      },
      onInterval: (interval) => {
        intervals.push(interval);
        onInterval?.(interval, stop);
      },
      onEnded: (seen) => (end = seen),
    },
  });
  await run.ended;
  if (refused !== undefined) throw new Error(refused.message, { cause: refused });
  if (end === undefined) throw new Error('the run ended without totals');
  checkBooks(shard, intervals, end);
  return finishedRun({ refused, probed, intervals, end });
}

function finishedRun(seen: Pick<FinishedRun, 'refused' | 'probed' | 'intervals' | 'end'>): FinishedRun {
  const { totals } = seen.end;
  const count = (name: CounterName): number => counterOf(totals.counters, name);
  const failures = Object.fromEntries(
    FAILURE_CLASSES.filter((name) => count(name) > 0).map((name) => [name, count(name)]),
  );
  const histogram = (name: HistogramName): Histogram => {
    const sparse = totals.histograms[HISTOGRAM_NAMES.indexOf(name)];
    return sparse === undefined ? new Histogram() : Histogram.from(sparse);
  };
  return { ...seen, count, failures, histogram };
}

function checkBooks(shard: Shard, intervals: readonly Interval[], { totals, fatal }: ShardEnd): void {
  const counters = newCounters();
  const statusCounts = new Map<number, number>();
  const problems: string[] = [];
  const measured = intervals.filter((interval) => interval.isWarmup !== true);
  for (const [position, interval] of intervals.entries()) {
    const isLast = position === intervals.length - 1;
    if (interval.number !== position) problems.push(`interval ${position} has number ${interval.number}`);
    if (interval.isLast !== isLast) problems.push(`interval ${position} has isLast ${interval.isLast}`);
    if (interval.isWarmup === true) continue;
    addCounters(counters, interval.counters);
    addStatusCounts(statusCounts, interval.statusCounts);
    // Books are open while the run goes on: what is in flight now has no outcome yet.
    problems.push(...ledgerProblems(counters, { isFinal: isLast, requests: shard.requests }));
  }
  if (totals.intervals !== intervals.length) problems.push(`totals speak of ${totals.intervals} intervals`);
  if (counters.some((value, i) => value !== totals.counters[i])) problems.push('counters differ from totals');
  const differs = (codes: ReadonlyMap<number, number>, others: ReadonlyMap<number, number>): boolean =>
    [...codes].some(([code, n]) => others.get(code) !== n);
  if (differs(statusCounts, totals.statusCounts) || differs(totals.statusCounts, statusCounts)) {
    problems.push('status counts differ from totals');
  }
  for (const [i, name] of HISTOGRAM_NAMES.entries()) {
    const parts = measured.map((interval) => interval.histograms[i]).filter((part) => part !== undefined);
    const total = totals.histograms[i];
    if (total === undefined || !sameHistogram(Histogram.from(...parts).toSparse(), total)) {
      problems.push(`histogram ${name} differs from the totals`);
    }
  }
  if (problems.length > 0) throw new Error(`${problems.join('; ')} (fatal: ${fatal?.message ?? 'none'})`);
}
