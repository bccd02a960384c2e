import { failedIn, type PlanInput, type Report } from '@broadside/shared';
import { exactly, type Finding, type Stalls, timed } from './finding.js';
import type { TargetRecord, TargetScript } from './target-script.js';

/** One run of the self-test, and what is claimed about it. */
export interface Scenario {
  readonly name: string;
  /** For the person who waits. */
  readonly purpose: string;
  readonly script: TargetScript;
  readonly plan: Omit<PlanInput, 'target'> & { readonly requests: number; readonly connections: number };
  /** Whether times are compared with those of the target. */
  readonly needsWay?: boolean;
  readonly judge: (seen: Seen) => readonly Finding[];
}

/** Both sides of a run. */
export interface Seen {
  readonly report: Report;
  readonly record: TargetRecord;
  readonly stalls: Stalls | undefined;
  /** What a plain client measures beyond the target's delay; 0 where no claim needs it. */
  readonly wayUs: number;
}

/** What a percentile may be off: 1 % and 50 µs. */
export function latencyToleranceUs(claimedUs: number): number {
  return 0.01 * claimedUs + 50;
}

export const PERCENTILES = [
  ['p50', 50, 'p50Us'],
  ['p90', 90, 'p90Us'],
  ['p99', 99, 'p99Us'],
  ['p99.9', 99.9, 'p999Us'],
  ['p99.99', 99.99, 'p9999Us'],
] as const;

/** The claims about one run: those of its scenario, and what must hold for every run. */
export function judge(scenario: Scenario, seen: Seen): Finding[] {
  const { name, plan } = scenario;
  const { report, record } = seen;
  const { counters, ledger } = report;
  return [
    ...scenario.judge(seen),
    exactly(name, 'requests planned', plan.requests, counters.planned),
    exactly(name, 'requests sent', plan.requests, counters.sent),
    exactly(name, 'requests at the target', record.requests, counters.sent),
    exactly(name, 'replies of the target', record.replies, counters.completed),
    exactly(name, 'completed and failed', plan.requests, counters.completed + failedIn(report)),
    exactly(name, 'lines of the books that do not balance', 0, ledger.problems.length),
  ];
}

/**
 * The engine's percentiles against those that the target stamped, which may be longer by the way between the two.
 * Whatever the machine does, no request takes less than the target's delay.
 */
export function percentileFindings(
  scenario: string,
  { report, record, stalls, wayUs }: Seen,
  percentiles: readonly (typeof PERCENTILES)[number][] = PERCENTILES,
): Finding[] {
  const { processing } = report.latency;
  return percentiles.map(([label, percentile, field]) => {
    const stampedUs = record.delays[field];
    return timed({
      scenario,
      what: `latency ${label}`,
      unit: 'µs',
      claimed: stampedUs,
      measured: processing[field],
      allowed: latencyToleranceUs(stampedUs) + wayUs,
      allowedBelow: latencyToleranceUs(stampedUs),
      percentile,
      stalls,
      isNeverBelow: processing.count === record.delays.count,
    });
  });
}
