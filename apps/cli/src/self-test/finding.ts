import type { Report } from '@broadside/shared';
import type { TargetRecord } from './target-script.js';

/**
 * `ok`: as claimed. `wrong`: not as claimed. `unclear`: a time is not as claimed, and the machine was too busy with
 * other things to hold that against the engine.
 */
export type Outcome = 'ok' | 'wrong' | 'unclear';

/** One claim, and what was measured. */
export interface Finding {
  /** The scenario it belongs to. */
  readonly scenario: string;
  readonly what: string;
  readonly unit: 'µs' | 'per second' | 'count';
  readonly claimed: number;
  readonly measured: number;
  /** How much larger, and how much smaller, the measured value may be; 0 for what must be exact. */
  readonly allowed: number;
  readonly allowedBelow: number;
  readonly outcome: Outcome;
}

/** How much of a run the threads on both sides were ready to run and could not. */
export interface Stalls {
  /** Of engine threads and target together, for each request. */
  readonly perRequestUs: number;
  /** As a share of the run's time. */
  readonly share: number;
}

/** Each request waits at least this long for CPUs: half of what a time may be off. */
const MAX_STALL_PER_REQUEST_US = 25;
/** From here on nothing about a time is clear. */
const MAX_STALL_SHARE = 0.05;

/** Undefined where the platform does not tell how long threads wait for a CPU. */
export function stallsOf(report: Report, record: TargetRecord): Stalls | undefined {
  const { runDelayUs: targetUs } = record;
  const selves = report.shards.flatMap(({ self }) => self ?? []);
  if (targetUs === undefined || selves.length < report.shards.length || report.timeTakenUs <= 0)
    return undefined;
  let stalledUs = targetUs;
  let stealShare = 0;
  for (const self of selves) {
    if (self.runDelayShare === undefined) return undefined;
    stalledUs += self.runDelayShare * report.timeTakenUs;
    stealShare = Math.max(stealShare, self.stealShare ?? 0);
  }
  stalledUs += stealShare * report.timeTakenUs;
  return {
    perRequestUs: stalledUs / Math.max(report.counters.sent, 1),
    share: stalledUs / report.timeTakenUs,
  };
}

/**
 * Whether stalls may be why a time at this percentile is off. A stall of a share s of the time delays a share s of
 * the requests, so percentile p is in doubt from (1 − p) / 2 on: p99.99 by next to nothing, p50 hardly ever.
 */
export function mayBeStalled(stalls: Stalls | undefined, percentile: number): boolean {
  if (stalls === undefined) return true;
  const bound = Math.min((1 - percentile / 100) / 2, MAX_STALL_SHARE);
  return stalls.perRequestUs > MAX_STALL_PER_REQUEST_US || stalls.share > bound;
}

/** What must be exact, however busy the machine is. */
export function exactly(scenario: string, what: string, claimed: number, measured: number): Finding {
  const outcome = claimed === measured ? 'ok' : 'wrong';
  return { scenario, what, unit: 'count', claimed, measured, allowed: 0, allowedBelow: 0, outcome };
}

export interface TimedClaim {
  readonly scenario: string;
  readonly what: string;
  readonly unit: 'µs' | 'per second';
  readonly claimed: number;
  readonly measured: number;
  readonly allowed: number;
  /** The one that the claim is about, or that is as sensitive to a single stall. */
  readonly percentile: number;
  readonly stalls: Stalls | undefined;
  /** Where it differs from what is allowed above. */
  readonly allowedBelow?: number;
  /** No stall can make the measured value smaller than the claimed one. */
  readonly isNeverBelow?: boolean;
}

export function timed(claim: TimedClaim): Finding {
  const { scenario, what, unit, claimed, measured, allowed, percentile, stalls } = claim;
  const { allowedBelow = allowed, isNeverBelow = false } = claim;
  const isBelow = measured < claimed - allowedBelow;
  const isWithin = !isBelow && measured <= claimed + allowed;
  const isExcused = mayBeStalled(stalls, percentile) && !(isBelow && isNeverBelow);
  const outcome = isWithin ? 'ok' : isExcused ? 'unclear' : 'wrong';
  return { scenario, what, unit, claimed, measured, allowed, allowedBelow, outcome };
}

/** One wrong finding makes the whole wrong; without one, an unclear finding leaves it unclear. */
export function outcomeOf(findings: readonly Finding[]): Outcome {
  if (findings.some(({ outcome }) => outcome === 'wrong')) return 'wrong';
  return findings.some(({ outcome }) => outcome === 'unclear') ? 'unclear' : 'ok';
}
