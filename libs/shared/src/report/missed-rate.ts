/** Whether a load with a rate got what it asked for: what a run with a rate is for, so it fails without. */
import { isPaced } from '../plan/load-fields.js';
import { formatCount, formatGiven, formatRate } from '../units.js';
import { failedIn } from './failure-counts.js';
import { unseenRequests } from './loss.js';
import type { Report } from './report.schema.js';

/** Of the requests that were due, the share that may be missing before the rate was not reached. */
export const MISSED_SHARE = 0.01;
/** A schedule that ended late by less than this says nothing: one pause at the end does it. */
const LATE_END_US = 100_000;

/** Sends per second of the time taken: what every text calls the rate that a load reached. */
export function sentPerS({ counters, timeTakenUs }: Pick<Report, 'counters' | 'timeTakenUs'>): number {
  return counters.sent / Math.max(timeTakenUs / 1e6, 1e-6);
}

export interface DueRequests {
  /** Requests whose planned time came. */
  readonly due: number;
  /** Of those: never sent. */
  readonly missed: number;
  /** Of these: because their agent was lost. */
  readonly lost: number;
}

/**
 * What a budget still had when the time was over, or somebody ended the run, had not come due. Without a budget
 * only what was due is planned, so all that the end of the time left over was due.
 */
export function dueRequests({
  plan,
  counters,
  notSentWithAgent: lost = 0,
}: Pick<Report, 'plan' | 'counters' | 'notSentWithAgent'>): DueRequests {
  const { planned, notSentStopped, notSentFatal, notSentTimeOver, notSentNoConnection } = counters;
  const leftOver = plan.requests === undefined ? notSentTimeOver : 0;
  return {
    due: planned - notSentStopped - notSentFatal - (notSentTimeOver - leftOver),
    missed: notSentNoConnection + leftOver + lost,
    lost,
  };
}

/** One sentence with what was asked for and what was reached; undefined where it was reached, or none was asked. */
export function missedRateSentence(report: Omit<Report, 'verdict'>): string | undefined {
  const { plan, counters, shards } = report;
  if (!isPaced(plan) || counters.planned === 0) return undefined;
  const { due, missed, lost } = dueRequests(report);
  // One request of each shard may be on its way out when the time is over.
  if (missed > Math.max(due * MISSED_SHARE, shards.length)) {
    const withAgents =
      lost === 0 ? '' : `, ${formatCount(lost)} of them with a lost agent${sentUnseen(report)}`;
    const left = `${formatCount(missed)} of ${formatCount(due)} requests that were due were not sent${withAgents}`;
    return `${askedText(report)}: ${left}`;
  }
  return lateSentence(report);
}

/** What an agent did after its last interval that was counted is in no number. */
function sentUnseen({ losses = [] }: Pick<Report, 'losses'>): string {
  const hasSome = losses.some((loss) => unseenRequests(loss) !== 0);
  return hasSome ? ', which may have sent some of these' : '';
}

/** A budget without an end is sent in full, however late; then only the time that it took tells. */
function lateSentence(report: Omit<Report, 'verdict'>): string | undefined {
  const { plan, counters, timeTakenUs, latency } = report;
  const { rate } = plan;
  if (rate === undefined || plan.stages !== undefined || plan.arrivals === 'poisson') return undefined;
  // With an end what was not sent by then is missed, and the time taken is that of the plan.
  if (plan.durationMs !== undefined || counters.sent < 2) return undefined;
  const scheduledUs = ((counters.sent - 1) / rate) * 1e6;
  // The last request cannot have taken longer than the slowest, so the sends took at least this.
  const slowestUs = failedIn(report) === 0 ? latency.total.maxUs : plan.timeoutMs * 1_000;
  const tookUs = timeTakenUs - slowestUs;
  if (tookUs - scheduledUs < LATE_END_US || scheduledUs > tookUs * (1 - MISSED_SHARE)) return undefined;
  return `${askedText(report)}: the requests were sent late`;
}

function askedText(report: Pick<Report, 'plan' | 'counters' | 'timeTakenUs'>): string {
  const { rate, stages } = report.plan;
  if (rate === undefined || stages !== undefined) return 'the rate was not reached';
  return `asked for ${formatGiven(rate)}/s, reached ${formatRate(sentPerS(report))}/s`;
}
