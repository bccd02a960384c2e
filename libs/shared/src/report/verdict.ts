import { LIMITS } from '../limits.js';
import { formatCount, formatCounted } from '../units.js';
import { endedIn, failedIn, failureSentence, failureWarning, isMostlyFailed } from './failure-counts.js';
import { headlineWarningOf } from './headline-warning.js';
import { type KeepAliveLimit, keepAliveLimitOf } from './keep-alive-limit.js';
import { limitOf } from './limit.js';
import { type Loss, lossSentence, unseenRequests } from './loss.js';
import { missedRateSentence } from './missed-rate.js';
import type { Report, Verdict } from './report.schema.js';

/**
 * Judges a run from its report. The first that holds: books that do not balance or something missing make it
 * inconclusive, a person's stop makes it aborted, a fatal error or no success at all makes it fail, load that went
 * with an agent makes it inconclusive where it leaves the result open; else pass.
 * More failures than successes, or a rate that was asked for and not reached, make it fail too.
 */
export function verdictOf(report: Omit<Report, 'verdict'>): Verdict {
  const { outcome, reason } = outcomeOf(report);
  const reasons = reason === undefined ? [] : [reason];
  // Whoever stopped the run said why, and is to find that whatever became of the numbers.
  const { reason: whyEnded } = report.run;
  if (outcome === 'inconclusive' && whyEnded !== undefined) reasons.push(whyEnded);
  const failures = failureSentence(report);
  if (failures !== undefined) reasons.push(failures);
  reasons.push(...lossSentences(report));
  const advice: string[] = [];
  const closes = keepAliveDiagnosis(report);
  if (closes !== undefined) reasons.push(closes);
  const leftToUs = leftToUsSentence(report);
  if (leftToUs !== undefined) reasons.push(leftToUs);
  const surplus = surplusSentence(report);
  if (surplus !== undefined) reasons.push(surplus);
  if (report.counters.lengthDiffers > 0) {
    advice.push('if the target answers with pages of changing length, do not compare lengths (-l)');
  }
  if (report.counters.noLocalPort > 0) {
    advice.push('no local ports were left: keep connections alive (-k), or use more agents');
  }
  if (report.counters.noDescriptor > 0) {
    advice.push('no file descriptors were left: raise `ulimit -n` on the load machines');
  }
  if (isUntrusted(report)) advice.push(TRUST_ADVICE);
  if (droppedRests(report).length > 0) advice.push(ROOM_ADVICE);
  // Evidence of a limit is made of numbers, and of these only what is wrong with them is known.
  if (report.counters.completed === 0 || !report.ledger.balanced) {
    const verdict = { outcome, limit: 'undecided', reasons, advice } as const;
    return withWarnings(verdict, report, [failureWarning(report)]);
  }
  const limit = limitOf(report);
  const verdict = {
    outcome,
    limit: limit.limit,
    reasons: [...reasons, ...limit.reasons],
    advice: [...advice, ...limit.advice],
  };
  const missedRate = outcome === 'fail' ? missedRateSentence(report) : undefined;
  return withWarnings(verdict, report, [failureWarning(report), missedRate]);
}

const TRUST_ADVICE =
  'a certificate that no usual authority has signed: name the one to trust with --ca FILE, or check none with ' +
  '--insecure';
const ROOM_ADVICE =
  'leave room for what a lost agent had to do: start one agent more than the run needs, or keep slots free (--slots)';

/** Every reader of the verdict finds the warnings in it, whatever its format. */
function withWarnings(
  verdict: Verdict,
  { ledger }: Pick<Report, 'ledger'>,
  found: readonly (string | undefined)[],
): Verdict {
  const warnings = [...found, headlineWarningOf(verdict, ledger)].filter((warning) => warning !== undefined);
  return warnings.length === 0 ? verdict : { ...verdict, warning: warnings.join('; ') };
}

interface Outcome {
  readonly outcome: Verdict['outcome'];
  readonly reason?: string;
}

function outcomeOf(report: Omit<Report, 'verdict'>): Outcome {
  const { run, fatal, counters } = report;
  const books = booksReason(report);
  if (books !== undefined) return { outcome: 'inconclusive', reason: books };
  if (run.state === 'aborted') return { outcome: 'aborted', reason: run.reason ?? 'the run was stopped' };
  if (fatal !== undefined) {
    // Of several agents the reason of the run names the one that it is about.
    const isNamed = report.agents.length > 1 && run.reason?.endsWith(fatal.message) === true;
    return { outcome: 'fail', reason: `ended by an error: ${isNamed ? run.reason : fatal.message}` };
  }
  if (run.state === 'failed')
    return { outcome: 'fail', reason: run.reason ?? 'the run could not be carried out' };
  if (counters.completed === 0) {
    return { outcome: 'fail', reason: `no request of ${formatCount(endedIn(report))} succeeded` };
  }
  const unknown = unknownReason(report);
  if (unknown !== undefined) return { outcome: 'inconclusive', reason: unknown };
  if (isMostlyFailed(report)) {
    const counts = `${formatCounted(failedIn(report), 'request')} failed, ${formatCount(counters.completed)} succeeded`;
    return { outcome: 'fail', reason: `more failed than succeeded: ${counts}` };
  }
  const missedRate = missedRateSentence(report);
  if (missedRate === undefined) return { outcome: 'pass' };
  // Load was missing until another agent took it over, or for good: whose fault the rate is, nobody can tell.
  const disturbed = report.losses?.find((loss) => loss.rest !== 'none');
  if (disturbed === undefined) return { outcome: 'fail', reason: missedRate };
  const reason = `${missedRate}; load was missing after agent ${disturbed.agentName} had gone`;
  return { outcome: 'inconclusive', reason };
}

/** Why a peer's certificate is not trusted, in OpenSSL's words. */
const UNTRUSTED = /self.signed certificate|unable to (get|verify).*certificate/i;

function isUntrusted({ failureReasons = [], fatal, counters }: Omit<Report, 'verdict'>): boolean {
  const reasons = [...failureReasons.map(({ reason }) => reason), fatal?.message ?? ''];
  return counters.tls > 0 && reasons.some((reason) => UNTRUSTED.test(reason));
}

/** Rests that nobody took over although the plan wanted it. */
function droppedRests({ plan, losses = [] }: Pick<Report, 'plan' | 'losses'>): Loss[] {
  return plan.onAgentLoss === 'continue' ? [] : losses.filter((loss) => loss.rest === 'dropped');
}

/** Above this share of requests without a known outcome the others no longer speak for them. */
const MAX_UNKNOWN_SHARE = 0.01;

/** Above this share of what is counted, what may have been sent besides could have changed what was measured. */
const MAX_UNSEEN_SHARE = 0.1;

/**
 * Why declared losses leave the result open, although the books balance: part of the load was not sent although
 * the plan wanted it taken over, or too many outcomes are unknown. Undefined when they do not.
 */
function unknownReason(report: Omit<Report, 'verdict'>): string | undefined {
  const { lostWithAgent, counters, notSentWithAgent = 0 } = report;
  const dropped = droppedRests(report);
  const [first] = dropped;
  if (first !== undefined) {
    const more = dropped.length === 1 ? '' : ` (and of ${formatCount(dropped.length - 1)} more)`;
    const what = `the rest of shard ${first.shardIndex} was not sent after agent ${first.agentName} had gone${more}`;
    if (notSentWithAgent === 0) return what;
    return `${what}: ${formatCount(notSentWithAgent)} of ${formatCount(counters.planned)} requests`;
  }
  if (lostWithAgent > counters.sent * MAX_UNKNOWN_SHARE) {
    const share = `${formatCount(lostWithAgent)} of ${formatCount(counters.sent)} requests`;
    return `the outcome of ${share} is not known, because their agent was lost`;
  }
  return unseenReason(report);
}

/** The target may have had more to do than the report tells of. */
function unseenReason({ losses = [], counters }: Omit<Report, 'verdict'>): string | undefined {
  const unknown = losses.find((loss) => unseenRequests(loss) === undefined);
  if (unknown !== undefined) {
    const { agentName, shardIndex } = unknown;
    const when = `before it was lost with shard ${shardIndex}: none of its numbers came`;
    return `nobody knows what agent ${agentName} sent ${when}`;
  }
  const most = losses.reduce((sum, loss) => sum + (unseenRequests(loss) ?? 0), 0);
  if (most <= counters.sent * MAX_UNSEEN_SHARE) return undefined;
  const counted = `the ${formatCount(counters.sent)} that are counted`;
  return `lost agents may have sent ${formatCount(most)} requests beside ${counted}`;
}

/** Losses that are told one by one; a cluster that falls apart needs no more. */
const MAX_TOLD_LOSSES = 5;

function lossSentences({ losses = [] }: Pick<Report, 'losses'>): string[] {
  const told: readonly Loss[] = losses.slice(0, MAX_TOLD_LOSSES);
  const more = losses.length - told.length;
  return [...told.map(lossSentence), ...(more > 0 ? [`and ${formatCount(more)} more losses of agents`] : [])];
}

/** The first thing that is wrong with the books; undefined when they balance and nothing is missing. */
export function booksReason({ ledger }: Pick<Report, 'ledger'>): string | undefined {
  if (ledger.balanced) return undefined;
  const [first = 'no reason given', ...others] = ledger.problems;
  const more = others.length === 0 ? '' : ` (and ${formatCount(others.length)} more)`;
  return `the books do not balance: ${first}${more}`;
}

/**
 * One sentence about connections that the server closed without a word. They are the server's limit of requests
 * per connection, or its idle timeout, and no failed answers: that is what hides behind the "failed requests" of
 * many `ab` reports. Undefined when there were none.
 */
export function keepAliveDiagnosis(
  report: Pick<Report, 'counters' | 'requestsPerConnection'>,
): string | undefined {
  const { closedWithoutReplyReused: closes, connectionsOpened, retried } = report.counters;
  const limit = keepAliveLimitOf(report);
  if (limit !== undefined) return limitSentence(limit, closes, retried);
  if (closes === 0) return undefined;
  const perConnection = endedIn(report) / Math.max(connectionsOpened, 1);
  return (
    `the server closed ${formatCounted(closes, 'reused connection')} without announcing it ` +
    `(${formatCount(perConnection)} requests per connection on average); ` +
    'each met a request that was already sent and got no reply'
  );
}

/** One sentence about a pause that is the target's doing and in no latency; undefined when there was none. */
function leftToUsSentence({ counters }: Pick<Report, 'counters'>): string | undefined {
  const { connectionsLeftToUs: count } = counters;
  if (count === 0) return undefined;
  return (
    `the target announces the end of connections, or implies it by HTTP/1.0, but leaves closing to us: ` +
    `${formatCounted(count, 'connection')} waited ${LIMITS.lingerMs} ms for it`
  );
}

/** One sentence about bytes that answer no request, which no failure tells of; undefined when there were none. */
function surplusSentence({ counters }: Pick<Report, 'counters'>): string | undefined {
  const { repliesWithSurplus: count } = counters;
  if (count === 0) return undefined;
  const replies =
    count === 1 ? '1 reply had bytes behind it' : `${formatCount(count)} replies had bytes behind them`;
  return (
    `the target's framing is wrong: ${replies} that answer no request, as with a ` +
    'Content-Length that is too small or a reply that is sent twice; the connection was closed each time, and ' +
    'another one opened for what came next'
  );
}

function limitSentence(limit: KeepAliveLimit, unanswered: number, retried: number): string {
  const { requests, isExact, closes, allCloses } = limit;
  const met = [
    ...(unanswered === 0
      ? []
      : [`${formatCounted(unanswered, 'request')} met such a close and got no reply`]),
    ...(retried === 0
      ? []
      : [
          `${formatCounted(retried, 'request')} met one and ${retried === 1 ? 'was' : 'were'} sent once more`,
        ]),
  ];
  const after = `${isExact ? '' : 'about '}${formatCounted(requests, 'request')}`;
  const share =
    closes === allCloses ? formatCount(closes) : `${formatCount(closes)} of ${formatCount(allCloses)}`;
  const seen = `the server closes every connection after ${after} without announcing it (${share} closes)`;
  return met.length === 0 ? seen : `${seen}; ${met.join(', ')}`;
}
