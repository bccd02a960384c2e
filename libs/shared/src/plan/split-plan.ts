import { PROTOCOL_VERSION } from '../wire/protocol-version.js';
import { bodyBytesOf } from './body-bytes.js';
import { isPaced } from './load-fields.js';
import type { Plan } from './plan.schema.js';
import { requestHeaderLines } from './request-lines.js';
import type { Shard } from './shard.schema.js';
import { requestTargetOf, shardConnectionOf } from './shard-connection.js';
import { interleavedShares, type Shares, shardLoadOf } from './shard-load.js';
import { parseTarget } from './target.js';

/**
 * Cuts `total` into one whole share per weight: share k is the difference of two rounded cumulative shares,
 * so the shares add up to `total` exactly, and none is off by one or more from its fair value.
 * Integer arithmetic in BigInt, because total × weight passes 2^53.
 * @param weights non-negative whole numbers, at least one of them positive.
 */
export function splitByWeights(total: number, weights: readonly number[]): number[] {
  const sum = weights.reduce((a, b) => a + BigInt(b), 0n);
  if (sum <= 0n) throw new RangeError('weights must have a positive sum');
  let cumulative = 0n;
  let given = 0;
  return weights.map((weight) => {
    cumulative += BigInt(weight);
    const upTo = Number((BigInt(total) * cumulative) / sum);
    const share = upTo - given;
    given = upTo;
    return share;
  });
}

/** Shards of a schedule take turns; those of a closed load get requests as they have connections. */
function sharesOf(plan: Plan, shardCount: number): Shares {
  if (isPaced(plan) || plan.stages !== undefined) return interleavedShares(plan, shardCount);
  const evenWeights = Array.from({ length: shardCount }, () => 1);
  const connections = splitByWeights(plan.connections, evenWeights);
  const requests = plan.requests === undefined ? undefined : splitByWeights(plan.requests, connections);
  return { connections, requests };
}

/**
 * Cuts a plan into n shards whose requests and connections add up to the plan's exactly.
 * In a closed load requests follow connections, so that all shards of one speed end together; every shard has
 * at least one connection and one request per connection. A schedule is dealt out in turn, and may leave a shard
 * without requests. The first shard sends the probe, if the plan wants one.
 * @param shardCount 1 … plan.connections
 */
export function splitPlan(plan: Plan, runId: string, shardCount: number): Shard[] {
  if (!Number.isInteger(shardCount) || shardCount < 1 || shardCount > plan.connections) {
    throw new RangeError(`${plan.connections} connections cannot be cut into ${shardCount} shards`);
  }
  const target = parseTarget(plan.target);
  if (typeof target === 'string') throw new TypeError(`plan with a bad target: ${target}`);
  const { connections, requests } = sharesOf(plan, shardCount);
  const requestTarget = requestTargetOf(plan, target);
  const request = {
    method: plan.method,
    httpVersion: plan.httpVersion,
    ...(requestTarget === target.path ? {} : { requestTarget }),
    headerLines: requestHeaderLines(plan, target, bodyBytesOf(plan)),
    body: plan.body,
    bodyBase64: plan.bodyBase64,
  };
  return connections.map((share, shardIndex) => ({
    protocol: PROTOCOL_VERSION,
    runId,
    shardIndex,
    attempt: 1,
    shardCount,
    target,
    request,
    connection: shardConnectionOf(plan, target),
    keepAlive: plan.keepAlive,
    connections: share,
    requests: requests?.[shardIndex],
    durationMs: plan.durationMs,
    ...shardLoadOf(plan, shardIndex, shardCount),
    timeoutMs: plan.timeoutMs,
    maxReplyHeaderBytes: plan.maxReplyHeaderBytes,
    maxReplyBodyBytes: plan.maxReplyBodyBytes,
    checkLength: plan.checkLength,
    failOnStatus: plan.failOnStatus,
    onSocketError: plan.onSocketError,
    probe: plan.probe && shardIndex === 0,
  }));
}
