/** From what a run left behind to its report: the check of every shard, and the facts around it. */
import {
  type AgentFacts,
  buildReport,
  checkShard,
  counterOf,
  countersToRecord,
  type Fatal,
  failedOf,
  type Interval,
  type Plan,
  type Report,
  type RunTotals,
  type Second,
  type ShardAttempt,
  selfMeasurementOf,
} from '@broadside/shared';
import type { ShardProgress } from './shard-progress.js';
import { failureReasonsOf, targetFactsOf } from './target-facts.js';

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
  readonly problems: readonly string[];
  /** What the agents found doubtful about their machines. */
  readonly warnings: readonly string[];
  readonly loadIntervals: (attempt: ShardAttempt) => Promise<Interval[]>;
}

/** Reads each shard's stored intervals once, one shard after the other, so that memory stays small. */
export async function reportOf(input: RunReportInput): Promise<Report> {
  const problems = [...input.problems];
  const shardReports: Report['shards'] = [];
  let lostWithAgent = 0;
  for (const progress of input.shards) {
    const intervals = await input.loadIntervals(progress.attempt);
    const wasNeverBegun = progress.didNothing || (intervals.length === 0 && progress.totals?.intervals === 0);
    const check = wasNeverBegun
      ? { sum: undefined, problems: [] }
      : checkShard(progress.name, intervals, progress.totals);
    problems.push(...check.problems);
    if (progress.failure !== undefined) problems.push(`${progress.name}: ${progress.failure}`);
    const counters = progress.totals?.counters ?? check.sum?.counters;
    if (progress.isFenced && counters !== undefined) {
      const ended =
        counterOf(counters, 'completed') + failedOf(counters) + counterOf(counters, 'inFlightAtEnd');
      lostWithAgent += Math.max(counterOf(counters, 'sent') - ended, 0);
    }
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
      ...(result?.transportNote === undefined ? {} : { transportNote: result.transportNote }),
      ...(check.sum === undefined ? {} : { busyShareMax: check.sum.busyShareMax }),
      ...(self === undefined ? {} : { self }),
      ...(result?.sharesMachine === undefined ? {} : { sharesMachine: result.sharesMachine }),
      ...(fatal === undefined ? {} : { fatal }),
    });
  }
  const results = input.shards.flatMap(({ result }) => (result === undefined ? [] : [result]));
  return buildReport({
    plan: input.plan,
    run: input.run,
    target: targetFactsOf(results),
    failureReasons: failureReasonsOf(results),
    totals: input.totals,
    seconds: [...input.seconds],
    agents: input.agents,
    shards: shardReports,
    ...requestSize(input.shards),
    referenceBytes: input.referenceBytes,
    lostWithAgent,
    fatal: input.fatal,
    problems,
    warnings: input.warnings,
  });
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
