import { isPaced } from '../plan/load-fields.js';
import { formatCount, formatLatencyUs, formatRate } from '../units.js';
import { NO_QUEUE_FACTOR, QUEUE_FACTOR, waitFactorOf } from './limit-beyond-generator.js';
import { type Limit, undecided } from './limit-finding.js';
import { type DueRequests, dueRequests, MISSED_SHARE, sentPerS } from './missed-rate.js';
import type { Report } from './report.schema.js';

/** A send that is later than this is late whatever the pacer's own unsteadiness. */
const LATE_US = 10_000;

/** `plan`, when nearly everything that was due was sent on time. Undefined otherwise, and in the closed model. */
export function reachedRateLimit(report: Omit<Report, 'verdict'>): Limit | undefined {
  if (!hasSchedule(report)) return undefined;
  const { due, missed, lateUs } = dueOf(report);
  if (missed > due * MISSED_SHARE || lateUs > LATE_US) return undefined;
  const late = `99 % of them at most ${formatLatencyUs(lateUs)} late`;
  return {
    limit: 'plan',
    reasons: [`${achievedText(report)}, ${late}: the rate was reached`],
    // Whoever stopped the run knows that it was not carried out; another rate is no answer to that.
    advice: report.run.state === 'finished' ? ["raise the rate to find the target's limit"] : [],
  };
}

/**
 * Who was the limit of a load with a rate that was not reached although the engine threads had time to spare.
 * Undefined in the closed model.
 */
export function missedRateLimit(report: Omit<Report, 'verdict'>): Limit | undefined {
  if (!hasSchedule(report)) return undefined;
  const { plan, counters } = report;
  const { due, missed, lost, lateUs } = dueOf(report);
  const waited = counters.waitedForConnection;
  const seen = `${achievedText(report)}, ${formatCount(waited)} of them only when a connection became free`;
  if (waited + missed - lost <= due * MISSED_SHARE) {
    if (lost > due * MISSED_SHARE) return undecided(`${seen}; the others went with a lost agent`);
    const late = `99 % of them up to ${formatLatencyUs(lateUs)} late`;
    return undecided(`${seen}, and ${late}: the cause is not in evidence`);
  }
  const factor = waitFactorOf(report);
  const times = `${factor.toFixed(1)} times the shortest`;
  if (factor >= QUEUE_FACTOR) {
    return {
      limit: 'target',
      reasons: [`${seen}; the median wait is ${times}: replies came too slowly`],
      advice: ['lower the rate until no request waits for a connection: that is what the target sustains'],
    };
  }
  if (factor > NO_QUEUE_FACTOR) {
    return undecided(`${seen}; the median wait is ${times}: no clear sign of a queue`);
  }
  const carried = `${formatCount(plan.connections)} connections cannot carry this rate`;
  return {
    limit: 'plan',
    reasons: [`${seen}; the median wait is only ${times}: ${carried}`],
    advice: [`raise the connections (-c) above ${formatCount(plan.connections)}`],
  };
}

function hasSchedule({ plan, counters }: Omit<Report, 'verdict'>): boolean {
  return isPaced(plan) && counters.planned > 0;
}

interface Due extends DueRequests {
  /** Of the sent ones 99 % were at most so late. */
  readonly lateUs: number;
}

function dueOf(report: Omit<Report, 'verdict'>): Due {
  return { ...dueRequests(report), lateUs: report.latency.sendLag.p99Us };
}

function achievedText(report: Omit<Report, 'verdict'>): string {
  const sent = formatCount(report.counters.sent);
  const due = formatCount(dueOf(report).due);
  return `${sent} of ${due} requests that were due were sent (${formatRate(sentPerS(report))}/s)`;
}
