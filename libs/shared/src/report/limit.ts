import { formatBytes, formatCounted, formatDurationMs, formatLatencyUs } from '../units.js';
import { failedIn } from './failure-counts.js';
import { latencyAtRankUs } from './latency.js';
import type { Report, Verdict } from './report.schema.js';

/** An engine thread that is busier than this has no time left to keep its connections busy. */
const BUSY_SHARE_FULL = 0.9;
/** Below this in every second the engine threads had time to spare. */
const BUSY_SHARE_SPARE = 0.7;
/** Fewer replies than this say nothing about a limit. */
const MIN_REPLIES = 100;
/** A median wait of at most so many times the fastest reply means that nothing queued. */
const NO_QUEUE_FACTOR = 2;
/** From so many times on, requests queued somewhere beyond the generator. */
const QUEUE_FACTOR = 4;
/** Close to one gigabit per second, where a network is a likelier limit than a server. */
const FAST_BYTES_PER_S = 100 * 1_048_576;

export interface Limit {
  readonly limit: Verdict['limit'];
  readonly reasons: readonly string[];
  readonly advice: readonly string[];
}

/**
 * Says which side was the limit, from the evidence of one run only (design section 8):
 *
 *   an engine thread ≥ 90 % busy in most seconds        generator
 *   threads idle, median wait ≤ 2 × the fastest         plan: nothing queued, more connections would do more
 *   threads idle, median wait ≥ 4 × the fastest         target: requests queued beyond the generator
 *   anything between, a short run, a fast network       undecided
 *
 * The fastest wait is a fair stand-in for an idle target because the first replies of a run found no queue.
 */
export function limitOf(report: Omit<Report, 'verdict'>): Limit {
  const busyShares = report.seconds.filter((s) => s.sent > 0 || s.completed > 0).map((s) => s.busyShareMax);
  const replies = report.latency.wait.count;
  if (busyShares.length === 0 || replies < MIN_REPLIES) {
    const seen = `${formatCounted(replies, 'reply', 'replies')} in ${formatDurationMs(report.timeTakenUs / 1_000)}`;
    return undecided(`too little to tell who was the limit: ${seen}`);
  }
  const fullSeconds = busyShares.filter((share) => share >= BUSY_SHARE_FULL).length;
  if (fullSeconds * 2 > busyShares.length) return generatorLimit(report, fullSeconds, busyShares.length);
  const busiest = Math.max(...busyShares);
  if (busiest >= BUSY_SHARE_SPARE) {
    return undecided(`engine threads were busy up to ${percent(busiest)}: neither idle nor full`);
  }
  return limitBeyondGenerator(report, busiest);
}

function generatorLimit(report: Omit<Report, 'verdict'>, fullSeconds: number, seconds: number): Limit {
  const shards = report.shards.length;
  const when = `in ${fullSeconds} of ${formatCounted(seconds, 'second')}`;
  return {
    limit: 'generator',
    reasons: [
      `an engine thread was at least ${percent(BUSY_SHARE_FULL)} busy ${when}: ` +
        'the target may be faster than this number',
    ],
    advice: [
      `add slots: ${shards} ${shards === 1 ? 'was' : 'were'} in use; start more agents, on other machines`,
    ],
  };
}

function limitBeyondGenerator(report: Omit<Report, 'verdict'>, busiest: number): Limit {
  const { wait } = report.latency;
  const medianUs = latencyAtRankUs(wait, Math.ceil(wait.count / 2));
  const factor = medianUs / Math.max(wait.minUs, 1);
  const seen =
    `the median wait of ${formatLatencyUs(medianUs)} is ${factor.toFixed(1)} times the shortest, ` +
    `engine threads were busy at most ${percent(busiest)}`;
  const { connections } = report.plan;
  if (factor <= NO_QUEUE_FACTOR && failedIn(report) === 0) {
    return {
      limit: 'plan',
      reasons: [`${seen}: nothing queued, ${formatCounted(connections, 'connection')} asked for no more`],
      advice: [`raise the connections (-c) above ${connections} to find the target's limit`],
    };
  }
  const bytesPerS = report.counters.bytesReceived / Math.max(report.timeTakenUs / 1e6, 1e-6);
  if (bytesPerS >= FAST_BYTES_PER_S) {
    return undecided(
      `${seen}, but at ${formatBytes(Math.round(bytesPerS))}/s the network may be the limit too`,
    );
  }
  if (factor >= QUEUE_FACTOR && connections > 1) {
    return {
      limit: 'target',
      reasons: [`${seen}: requests queued beyond the generator`],
      advice: [`compare with fewer connections than ${connections}: the same rate at less wait confirms it`],
    };
  }
  return undecided(`${seen}: no clear sign of a queue`);
}

function undecided(reason: string): Limit {
  return { limit: 'undecided', reasons: [reason], advice: [] };
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
