/** Who was the limit of a closed load, once it is clear that the engine threads had time to spare. */
import { formatBytes, formatCount, formatCounted, formatLatencyUs } from '../units.js';
import { failedIn } from './failure-counts.js';
import { demandText, percent } from './generator-demand.js';
import { latencyAtRankUs } from './latency.js';
import { type Limit, undecided } from './limit-finding.js';
import type { AgentReport, Latency, Report } from './report.schema.js';

/** A median wait of at most so many times the shortest means that nothing queued. */
export const NO_QUEUE_FACTOR = 2;
/** From so many times on, requests queued somewhere beyond the generator. */
export const QUEUE_FACTOR = 4;
/** Close to one gigabit per second, where a network of unknown speed is a likelier limit than a server. */
const FAST_BYTES_PER_S = 100 * 1_048_576;
/** Headers of Ethernet, IP and TCP take the rest. */
const LINK_FULL_SHARE = 0.85;
/** Requests that the target turns away, and those that run out of time, as shares of all, that are no accident. */
const SHED_SHARE = 0.01;
const TIMEOUT_SHARE = 0.05;

/** What the engine threads needed in nearly every second at most, 0 … 1. */
export interface ThreadNeeds {
  readonly demand: number;
  /** The part of it that was ready to run and had no CPU. */
  readonly delay: number;
}

export function limitBeyondGenerator(report: Omit<Report, 'verdict'>, needs: ThreadNeeds): Limit {
  return networkLimit(report) ?? sheddingLimit(report) ?? queueLimit(report, needs);
}

/** How many times the shortest wait the median is. */
export function waitFactorOf(report: Omit<Report, 'verdict'>): number {
  return factorOf(report.latency.wait);
}

function factorOf(latency: Latency): number {
  return medianUsOf(latency) / Math.max(latency.minUs, 1);
}

function medianUsOf(latency: Latency): number {
  return latencyAtRankUs(latency, Math.ceil(latency.count / 2));
}

/** Only agents whose link has a known speed, and whose traffic leaves the machine. */
function networkLimit(report: Omit<Report, 'verdict'>): Limit | undefined {
  for (const agent of report.agents) {
    const { linkMbps } = agent.machine;
    if (linkMbps === undefined) continue;
    const linkBytesPerS = (linkMbps * 1e6) / 8;
    const { received, sent } = bytesPerS(report, agent);
    const fastest = Math.max(received, sent);
    const share = fastest / linkBytesPerS;
    if (share < LINK_FULL_SHARE) continue;
    const link = `a link of ${formatCount(linkMbps)} Mbit/s`;
    return {
      limit: 'network',
      reasons: [
        `${agent.name} carried ${formatBytes(fastest)}/s over ${link}: ${percent(share)} of it, headers not counted`,
      ],
      advice: ['add agents on other machines, use a faster link, or ask for smaller replies'],
    };
  }
  return undefined;
}

/** A link carries both directions at its full speed. */
function bytesPerS(report: Omit<Report, 'verdict'>, agent: AgentReport): { received: number; sent: number } {
  let received = 0;
  let sent = 0;
  for (const { agentId, sharesMachine, counters } of report.shards) {
    if (agentId !== agent.agentId || sharesMachine === true || counters === undefined) continue;
    received += counters.bytesReceived;
    sent += counters.bytesSent;
  }
  const seconds = Math.max(report.timeTakenUs / 1e6, 1e-6);
  return { received: received / seconds, sent: sent / seconds };
}

/**
 * A target that says that it has too much to do has said who the limit is. One that does not answer in time
 * has said so only where no network is in between.
 */
function sheddingLimit(report: Omit<Report, 'verdict'>): Limit | undefined {
  const ended = report.counters.completed + failedIn(report);
  const refused = (report.statusCounts['429'] ?? 0) + (report.statusCounts['503'] ?? 0);
  const { timeout } = report.counters;
  const spare = 'the engine threads had time to spare';
  const advice = ['lower the connections or the rate until the target answers everything'];
  if (refused > ended * SHED_SHARE) {
    const share = `${formatCount(refused)} of ${formatCount(ended)} requests`;
    return { limit: 'target', reasons: [`${spare}, and ${share} were answered with 429 or 503`], advice };
  }
  if (timeout <= ended * TIMEOUT_SHARE) return undefined;
  const reason = `${spare}, and ${formatCount(timeout)} of ${formatCount(ended)} requests timed out`;
  const isLocal = report.shards.length > 0 && report.shards.every((shard) => shard.sharesMachine === true);
  if (isLocal) return { limit: 'target', reasons: [reason], advice };
  return { ...undecided(`${reason}: the target may have been too slow, or the network lost them`), advice };
}

function queueLimit(report: Omit<Report, 'verdict'>, { demand, delay }: ThreadNeeds): Limit {
  const { plan, latency } = report;
  const factor = waitFactorOf(report);
  const seen =
    `the median wait of ${formatLatencyUs(medianUsOf(latency.wait))} is ${factor.toFixed(1)} times the shortest, ` +
    `an engine thread ${demandText(demand, delay, 'needed')}`;
  if (plan.connections === 1) {
    return {
      limit: 'plan',
      reasons: [
        `${seen}; one connection asks for one request at a time, so this measures latency, no capacity`,
      ],
      advice: ["raise the connections (-c) above 1 to find the target's limit"],
    };
  }
  const fast = unknownNetworkReason(report);
  if (fast !== undefined) return undecided(`${seen}, but ${fast}`);
  const whole = factorOf(latency.processing);
  if (factor <= NO_QUEUE_FACTOR && whole <= NO_QUEUE_FACTOR && failedIn(report) === 0) {
    const asked = formatCounted(plan.connections, 'connection');
    return {
      limit: 'plan',
      reasons: [`${seen}: nothing queued, ${asked} asked for no more`],
      advice: [
        `raise the connections (-c) above ${formatCount(plan.connections)} to find the target's limit`,
      ],
    };
  }
  if (factor < QUEUE_FACTOR) return undecided(`${seen}: no clear sign of a queue`);
  return {
    limit: 'target',
    reasons: [`${seen}: requests queued beyond the generator`],
    advice: [
      `compare with fewer connections than ${formatCount(plan.connections)}: the same rate at less wait confirms it`,
    ],
  };
}

/** Traffic that leaves the machine over a link of unknown speed, so fast that the link may be full. */
function unknownNetworkReason(report: Omit<Report, 'verdict'>): string | undefined {
  const isRemote = report.shards.some((shard) => shard.sharesMachine !== true);
  const isUnknown = report.agents.some((agent) => agent.machine.linkMbps === undefined);
  const bytes = report.counters.bytesReceived / Math.max(report.timeTakenUs / 1e6, 1e-6);
  if (!isRemote || !isUnknown || bytes < FAST_BYTES_PER_S) return undefined;
  return `at ${formatBytes(Math.round(bytes))}/s the network may be the limit too`;
}
