import { formatCounted } from '../units.js';
import { PROTOCOL_VERSION } from '../wire/protocol-version.js';
import { bodyBytesOf } from './body-bytes.js';
import { type Deal, dealByWeights, splitByWeights, splitWithOneEach } from './deal.js';
import { isPaced } from './load-fields.js';
import type { Plan } from './plan.schema.js';
import { requestHeaderLines } from './request-lines.js';
import type { Shard } from './shard.schema.js';
import { requestTargetOf, shardConnectionOf } from './shard-connection.js';
import { pacedShares, type Shares, shardLoadOf, stagedShares } from './shard-load.js';
import { parseTarget } from './target.js';

/** Shards of a schedule take turns; those of a closed load get requests as they have connections. */
function sharesOf(plan: Plan, weights: readonly number[], deal: Deal): Shares {
  if (isPaced(plan)) return pacedShares(plan, weights, deal);
  if (plan.stages !== undefined) return stagedShares(plan, weights.length);
  const connections = splitWithOneEach(plan.connections, weights);
  const requests = plan.requests === undefined ? undefined : splitByWeights(plan.requests, connections);
  return { connections, requests };
}

/**
 * Cuts a plan into n shards whose requests and connections add up to the plan's exactly.
 * In a closed load requests follow connections, so that all shards of one speed end together; every shard has
 * at least one connection and one request per connection. A schedule is dealt out in rounds, and may leave a shard
 * without requests. The first shard sends the probe, if the plan wants one.
 * @param slots how many shards, 1 … plan.connections; or one weight for each (`slotWeights`).
 */
export function splitPlan(plan: Plan, runId: string, slots: number | readonly number[]): Shard[] {
  const shardCount = typeof slots === 'number' ? slots : slots.length;
  if (!Number.isInteger(shardCount) || shardCount < 1 || shardCount > plan.connections) {
    throw new RangeError(
      `${formatCounted(plan.connections, 'connection')} cannot be cut into ${formatCounted(shardCount, 'shard')}`,
    );
  }
  const target = parseTarget(plan.target);
  if (typeof target === 'string') throw new TypeError(`plan with a bad target: ${target}`);
  const weights = typeof slots === 'number' ? Array.from({ length: slots }, () => 1) : slots;
  const deal = dealByWeights(weights);
  const { connections, requests } = sharesOf(plan, weights, deal);
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
    ...shardLoadOf(plan, shardIndex, deal),
    timeoutMs: plan.timeoutMs,
    maxReplyHeaderBytes: plan.maxReplyHeaderBytes,
    maxReplyBodyBytes: plan.maxReplyBodyBytes,
    checkLength: plan.checkLength,
    failOnStatus: plan.failOnStatus,
    onSocketError: plan.onSocketError,
    probe: plan.probe && shardIndex === 0,
    ...(plan.keepFirstReply === true && shardIndex === 0 ? { keepFirstReply: true } : {}),
  }));
}
