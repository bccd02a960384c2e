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
  sameHistogram,
  selfMeasurementOf,
  shiftInterval,
} from '@broadside/shared';
import { FigureSum } from './run-figures.js';
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
  readonly loadIntervals: (attempt: ShardAttempt) => Promise<Interval[]>;
}

/** Reads each shard's stored intervals once, one shard after the other, so that memory stays small. */
export async function reportOf(input: RunReportInput): Promise<Report> {
  const problems = [...input.problems];
  const shardReports: Report['shards'] = [];
  const stored = new RunTotals();
  const figures = new Map<string, AgentFigures>();
  let sum: { readonly agentId: string; readonly of: FigureSum } | undefined;
  // Agent by agent, so that the figures of only one are being added up.
  for (const progress of input.shards.toSorted(byAgent)) {
    const { agentId } = progress;
    if (sum?.agentId !== agentId) sum = { agentId, of: new FigureSum(input.plan.connections) };
    const intervals = await input.loadIntervals(progress.attempt);
    sum.of.add(progress, intervals);
    figures.set(agentId, sum.of.end());
    for (const interval of intervals) {
      stored.addInterval(shiftInterval(interval, progress.startSlice ?? 0, LIMITS.intervalMs));
    }
    const check = checkOf(progress, intervals);
    problems.push(...check.problems);
    if (progress.failure !== undefined) problems.push(`${progress.name}: ${progress.failure}`);
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
      ...(check.sum === undefined ? {} : { busyShareMax: check.sum.busyShareMax }),
      ...(self === undefined ? {} : { self }),
      ...(result?.sharesMachine === undefined ? {} : { sharesMachine: result.sharesMachine }),
      ...(fatal === undefined ? {} : { fatal }),
    });
  }
  problems.push(...mergeProblems(stored, input.totals));
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
    losses: input.losses,
    fatal: input.fatal,
    problems,
    warnings: [...input.warnings, ...lateStarts(input.shards), ...doubtfulClocks(input.agents)],
  });
}

function checkOf(
  progress: ShardProgress,
  intervals: readonly Interval[],
): Partial<ShardCheck> & { problems: string[] } {
  const { totals, name, counted } = progress;
  const isEmpty = intervals.length === 0;
  if (progress.didNothing || (isEmpty && totals?.intervals === 0)) return { problems: [] };
  // Its agent is gone, so its own totals will not come; where they did, they are held against it all the same.
  if (progress.isFenced && totals === undefined) return checkFencedShard(name, intervals, counted);
  return checkShard(name, intervals, totals);
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
