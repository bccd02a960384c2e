/** From what a run left behind to its report: the check of every shard, and the facts around it. */
import {
  type AgentFacts,
  type AgentFigures,
  buildReport,
  COUNTER_NAMES,
  checkFencedShard,
  checkShard,
  countersToRecord,
  type Fatal,
  HISTOGRAM_NAMES,
  type Interval,
  LIMITS,
  type Loss,
  type Plan,
  type Report,
  RunTotals,
  type Second,
  type ShardAttempt,
  type ShardCheck,
  ShardSum,
  sameHistogram,
  selfMeasurementOf,
  shiftInterval,
} from '@broadside/shared';
import { lossesWithMissed } from './missed-loads.js';
import { booksAreProven } from './proven-books.js';
import { FigureSum } from './run-figures.js';
import { earlyEnd } from './shard-ending.js';
import type { ShardProgress } from './shard-progress.js';
import { failureReasonsOf, targetFactsOf } from './target-facts.js';

/** Differences that are spelled out; a broken merge differs everywhere. */
const MAX_MERGE_PROBLEMS = 3;

/** All slots are to start within this time; those that do not are named, but not more of them. */
const MAX_START_SKEW_US = 10_000;
const MAX_LATE_STARTS = 5;

export interface RunReportInput {
  readonly plan: Plan;
  readonly run: Report['run'];
  readonly shards: readonly ShardProgress[];
  readonly agents: readonly AgentFacts[];
  readonly totals: RunTotals;
  readonly seconds: readonly Second[];
  readonly referenceBytes?: number | undefined;
  /** Fatal error of the probe. */
  readonly fatal?: Fatal | undefined;
  readonly losses: readonly Loss[];
  readonly problems: readonly string[];
  /** What the agents found doubtful about their machines. */
  readonly warnings: readonly string[];
  /** The stored intervals of an attempt, in order. */
  readonly readIntervals: (attempt: ShardAttempt) => AsyncIterable<Interval>;
}

/**
 * Where the sum of what was merged is, bin for bin, the sum of what the shards say themselves, nothing is read. Only
 * otherwise each shard's stored intervals are, one shard after the other, to find what is wrong and where.
 */
export async function reportOf(input: RunReportInput): Promise<Report> {
  const problems = [...input.problems];
  const shardReports: Report['shards'] = [];
  const books = booksAreProven(input.shards, input.totals) ? undefined : new RunTotals();
  const figures = new Map<string, AgentFigures>();
  let sum: { readonly agentId: string; readonly of: FigureSum } | undefined;
  // Agent by agent, so that the figures of only one are being added up.
  for (const progress of input.shards.toSorted(byAgent)) {
    const { agentId } = progress;
    if (sum?.agentId !== agentId) sum = { agentId, of: new FigureSum(input.plan.connections) };
    const check = await checkOf(progress, input, { books, figures: sum.of });
    sum.of.add(progress);
    figures.set(agentId, sum.of.end());
    problems.push(...check.problems);
    if (progress.failure !== undefined) problems.push(`${progress.name}: ${progress.failure}`);
    const early = input.run.state === 'finished' ? earlyEnd(progress, input.losses) : undefined;
    if (early !== undefined) problems.push(`${progress.name}: ${early}`);
    const counters = progress.totals?.counters ?? check.sum?.counters;
    const { shard, result } = progress;
    const { fatal } = progress;
    const self = progress.totals === undefined ? undefined : selfMeasurementOf(progress.totals);
    shardReports.push({
      shardIndex: shard.shardIndex,
      attempt: shard.attempt,
      agentId: progress.agentId,
      connections: shard.connections,
      ...(shard.requests === undefined ? {} : { requests: shard.requests }),
      ...(counters === undefined ? {} : { counters: countersToRecord(counters) }),
      ...(result === undefined ? {} : { startSkewUs: result.startSkewUs, transport: result.transport }),
      ...(result?.stopSkewUs === undefined ? {} : { stopSkewUs: result.stopSkewUs }),
      ...(result?.transportNote === undefined ? {} : { transportNote: result.transportNote }),
      ...(progress.coveredSlices === 0 ? {} : { busyShareMax: progress.busyShareMax }),
      ...(self === undefined ? {} : { self }),
      ...(result?.sharesMachine === undefined ? {} : { sharesMachine: result.sharesMachine }),
      ...(fatal === undefined ? {} : { fatal }),
    });
  }
  if (books !== undefined) problems.push(...mergeProblems(books, input.totals));
  shardReports.sort((a, b) => a.shardIndex - b.shardIndex || a.attempt - b.attempt);
  const results = input.shards.flatMap(({ result }) => (result === undefined ? [] : [result]));
  return buildReport({
    plan: input.plan,
    run: input.run,
    target: targetFactsOf(results),
    failureReasons: failureReasonsOf(results),
    totals: input.totals,
    seconds: [...input.seconds],
    agents: input.agents,
    figures,
    shards: shardReports,
    ...requestSize(input.shards),
    referenceBytes: input.referenceBytes,
    losses: lossesWithMissed(input.losses, input.shards, loadEndMs(input)),
    fatal: input.fatal,
    problems,
    warnings: [...input.warnings, ...lateStarts(input.shards), ...doubtfulClocks(input.agents)],
  });
}

/** Infinite where the load went on to the end of its time: then all of its schedule fell due. */
function loadEndMs({ run, totals }: RunReportInput): number {
  return run.state === 'finished' ? Number.POSITIVE_INFINITY : Math.max(totals.lastEventUs, 0) / 1_000;
}

interface Sums {
  /** Gets everything that is stored; undefined when the books prove themselves and nothing needs to be read. */
  readonly books: RunTotals | undefined;
  /** Gets the latencies. */
  readonly figures: FigureSum;
}

async function checkOf(
  progress: ShardProgress,
  { readIntervals }: RunReportInput,
  { books, figures }: Sums,
): Promise<Partial<ShardCheck> & { problems: string[] }> {
  const { totals, name, counted } = progress;
  if (books === undefined) {
    if (totals !== undefined) figures.addLatency(totals);
    return { problems: [] };
  }
  const sum = new ShardSum();
  for await (const interval of readIntervals(progress.attempt)) {
    sum.add(interval);
    if (interval.isWarmup !== true) figures.addLatency(interval);
    books.addInterval(shiftInterval(interval, progress.startSlice ?? 0, LIMITS.intervalMs));
  }
  if (progress.didNothing || (sum.isEmpty && totals?.intervals === 0)) return { problems: [] };
  // Its agent is gone, so its own totals will not come; where they did, they are held against it all the same.
  if (progress.isFenced && totals === undefined) return checkFencedShard(name, sum, counted);
  return checkShard(name, sum, totals);
}

/** The totals that were merged as frames came, against those of the store: every counter and histogram bin. */
function mergeProblems(stored: RunTotals, merged: RunTotals): string[] {
  const names = COUNTER_NAMES.filter((name) => stored.counter(name) !== merged.counter(name));
  const problems = names.map(
    (name) => `${name} is ${merged.counter(name)} as merged and ${stored.counter(name)} in the store`,
  );
  for (const name of HISTOGRAM_NAMES) {
    if (sameHistogram(stored.histogram(name).toSparse(), merged.histogram(name).toSparse())) continue;
    problems.push(`the merged ${name} histogram is not that of the store`);
  }
  return problems.slice(0, MAX_MERGE_PROBLEMS);
}

/** Who did not make the common start instant, worst first. */
function lateStarts(shards: readonly ShardProgress[]): string[] {
  const late = shards.flatMap(({ name, result }) =>
    result !== undefined && result.startSkewUs > MAX_START_SKEW_US
      ? [{ name, skewUs: result.startSkewUs }]
      : [],
  );
  const worst = late.toSorted((a, b) => b.skewUs - a.skewUs).slice(0, MAX_LATE_STARTS);
  return worst.map(({ name, skewUs }) => `${name}: started ${Math.round(skewUs / 1_000)} ms late`);
}

/** Whose clock is not known well enough for a common start, worst first. */
function doubtfulClocks(agents: readonly AgentFacts[]): string[] {
  if (agents.length < 2) return [];
  const doubtful = agents.filter((agent) => agent.clockUncertaintyUs > MAX_START_SKEW_US);
  return doubtful
    .toSorted((a, b) => b.clockUncertaintyUs - a.clockUncertaintyUs)
    .slice(0, MAX_LATE_STARTS)
    .map(
      ({ name, clockUncertaintyUs }) =>
        `${name}: its clock is known to ±${Math.round(clockUncertaintyUs / 1_000)} ms only, ` +
        'so it may have started and stopped so much earlier or later than the others',
    );
}

/** Keeps the order of the attempts of one agent. */
function byAgent(a: ShardProgress, b: ShardProgress): number {
  return a.agentId < b.agentId ? -1 : a.agentId > b.agentId ? 1 : 0;
}

/** Bytes of one request on the wire, as the engine encodes it: request line, header lines, blank line, body. */
function requestSize(shards: readonly ShardProgress[]): { requestBytes: number; requestBodyBytes: number } {
  const shard = shards[0]?.shard;
  if (shard === undefined) return { requestBytes: 0, requestBodyBytes: 0 };
  const { method, httpVersion, headerLines, body, bodyBase64, requestTarget } = shard.request;
  const head = [
    `${method} ${requestTarget ?? shard.target.path} HTTP/${httpVersion}`,
    ...headerLines,
    '',
    '',
  ].join('\r\n');
  const requestBodyBytes =
    bodyBase64 === undefined ? Buffer.byteLength(body ?? '') : Buffer.byteLength(bodyBase64, 'base64');
  return { requestBytes: Buffer.byteLength(head) + requestBodyBytes, requestBodyBytes };
}
