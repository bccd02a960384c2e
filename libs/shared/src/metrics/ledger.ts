import { formatCount } from '../units.js';
import { type Counters, counterOf, failedOf, notSentOf } from './counters.js';

/** What the ledger is checked against besides the counters themselves. */
export interface LedgerContext {
  /** True when every shard has ended: nothing may be in flight any more except what is declared. */
  readonly isFinal: boolean;
  /** The plan's request budget, when the plan has one and the run was not cut short by time. */
  readonly requests?: number | undefined;
  /** Requests whose outcome is unknown because their agent was lost. */
  readonly lostWithAgent?: number | undefined;
  /** Requests that a lost agent should have sent, and that nobody sent in its place. */
  readonly notSentWithAgent?: number | undefined;
  /** Connections of lost agents: those that were open, and those that were being opened. */
  readonly connectionsLost?: { readonly open: number; readonly opening: number } | undefined;
}

/**
 * The identity that every merged set of counters must satisfy (design section 5):
 * planned = sent + not sent; sent = completed + failed + in flight at end + lost with an agent. Connections of a
 * lost agent count as failed or closed, as far as they had come.
 * While a run goes on, requests that wait for a connection are the (non-negative) rest of the first line, and
 * requests in flight that of the second.
 * @returns one sentence for each line of the identity that does not hold; empty when the books balance.
 */
export function ledgerProblems(counters: Counters, context: LedgerContext): string[] {
  const problems: string[] = [];
  const planned = counterOf(counters, 'planned');
  const sent = counterOf(counters, 'sent');
  const notSent = notSentOf(counters) + (context.notSentWithAgent ?? 0);
  if (context.isFinal ? planned !== sent + notSent : planned < sent + notSent) {
    problems.push(
      `planned ${formatCount(planned)} is not sent ${formatCount(sent)} + not sent ${formatCount(notSent)}`,
    );
  }
  const ended = counterOf(counters, 'completed') + failedOf(counters);
  const inFlight = counterOf(counters, 'inFlightAtEnd');
  const lost = context.lostWithAgent ?? 0;
  if (context.isFinal && sent !== ended + inFlight + lost) {
    problems.push(
      `sent ${formatCount(sent)} is not completed and failed ${formatCount(ended)} + ` +
        `in flight at end ${formatCount(inFlight)} + lost with agents ${formatCount(lost)}`,
    );
  }
  if (!context.isFinal && sent < ended) {
    problems.push(`completed and failed ${formatCount(ended)} are more than sent ${formatCount(sent)}`);
  }
  if (context.isFinal && context.requests !== undefined && planned !== context.requests) {
    problems.push(
      `planned ${formatCount(planned)} is not the ${formatCount(context.requests)} requests of the plan`,
    );
  }
  return [...problems, ...connectionProblems(counters, context)];
}

function connectionProblems(counters: Counters, { isFinal, connectionsLost }: LedgerContext): string[] {
  const asked = counterOf(counters, 'connectionsAsked');
  const opened = counterOf(counters, 'connectionsOpened');
  const failed = counterOf(counters, 'connectionsFailed') + (connectionsLost?.opening ?? 0);
  const closed =
    (connectionsLost?.open ?? 0) +
    counterOf(counters, 'connectionsClosedByUs') +
    counterOf(counters, 'connectionsClosedAnnounced') +
    counterOf(counters, 'connectionsClosedUnannounced') +
    counterOf(counters, 'connectionsClosedIdle');
  const problems: string[] = [];
  if (isFinal ? asked !== opened + failed : asked < opened + failed) {
    problems.push(
      `connections asked ${formatCount(asked)} are not opened ${formatCount(opened)} + failed ${formatCount(failed)}`,
    );
  }
  if (isFinal ? opened !== closed : opened < closed) {
    problems.push(`connections opened ${formatCount(opened)} are not closed ${formatCount(closed)}`);
  }
  return problems;
}
