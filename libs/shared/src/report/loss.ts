/** Attempts that ended before their load was done because their agent went: what is known, and what is not. */
import { z } from 'zod';
import { type Counters, counterOf, failedOf, notSentOf } from '../metrics/counters.js';
import { agentIdSchema } from '../plan/shard.schema.js';
import { formatCount, formatCounted } from '../units.js';

export const LOSS_CAUSES = ['lost', 'forgotten', 'left'] as const;

export const lossSchema = z.object({
  shardIndex: z.int(),
  attempt: z.int(),
  agentId: agentIdSchema,
  agentName: z.string(),
  /**
   * lost: killed, cut off or standing still; forgotten: the agent came back without the attempt; left: it was
   * told to end, and did so in order.
   */
  cause: z.enum(LOSS_CAUSES),
  /** Ms after the start instant: up to where its intervals are there, and when it was noticed. */
  coveredToMs: z.number(),
  noticedAtMs: z.number(),
  /** Taken up by the end of its last interval, and no outcome is known. */
  lostRequests: z.number(),
  /** Connections that were open then, and that were being opened. */
  openConnections: z.number(),
  openingConnections: z.number(),
  /** Due by the schedule then, and not sent because all connections were busy. */
  waitingRequests: z.number(),
  /** Booked by itself as not sent, which another attempt sends after all. */
  returnedRequests: z.number(),
  /** What was left of its budget of requests; absent where it had none. */
  restRequests: z.number().optional(),
  /**
   * Of a load with a rate and an end in time: fell due after its last interval, and was planned by nobody else, until
   * the rest went on or to the end.
   */
  missedRequests: z.number().optional(),
  /**
   * What became of what was left: taken over by another attempt; dropped, because nobody could or should;
   * waiting for a slot, while the run goes on; none was left.
   */
  rest: z.enum(['taken', 'dropped', 'waiting', 'none']),
  /** Who took it over, and from when on. */
  takenBy: z
    .object({
      attempt: z.int(),
      agentId: agentIdSchema,
      agentName: z.string(),
      fromMs: z.number().optional(),
      /** No slot was free: it carries this in an extra slot, beside its own shards. */
      isExtra: z.boolean().optional(),
    })
    .optional(),
  /** Requests beyond its last interval that it may have sent until it was noticed, by its rate until then. */
  unaccountedMax: z.number().optional(),
  /** The same as the agent itself said it, when it came back. */
  unaccounted: z.number().optional(),
});
export type Loss = Readonly<z.infer<typeof lossSchema>>;

/** What the counters of an attempt say about its end, when nothing more of it counts. */
export function openBooksOf(counters: Counters): Pick<
  Loss,
  'lostRequests' | 'openConnections' | 'openingConnections' | 'waitingRequests'
> & {
  readonly used: number;
} {
  const count = (name: Parameters<typeof counterOf>[1]): number => counterOf(counters, name);
  const ended = count('completed') + failedOf(counters) + count('inFlightAtEnd');
  const closed =
    count('connectionsClosedByUs') +
    count('connectionsClosedAnnounced') +
    count('connectionsClosedUnannounced') +
    count('connectionsClosedIdle');
  const notSent = notSentOf(counters);
  return {
    lostRequests: Math.max(count('sent') - ended, 0),
    openConnections: Math.max(count('connectionsOpened') - closed, 0),
    openingConnections: Math.max(
      count('connectionsAsked') - count('connectionsOpened') - count('connectionsFailed'),
      0,
    ),
    waitingRequests: Math.max(count('planned') - count('sent') - notSent, 0),
    used: count('sent') + notSent,
  };
}

/** What the losses of a run change in its books: what is added to counters, and what is declared beside them. */
export interface LossBooks {
  readonly planned: number;
  readonly notSentStopped: number;
  readonly notSentTimeOver: number;
  readonly lostWithAgent: number;
  readonly notSentWithAgent: number;
  readonly connectionsLost: { readonly open: number; readonly opening: number };
}

/**
 * The entries that close the books of lost attempts. Requests that another attempt took over are planned there,
 * so they are no longer planned here; those that nobody took over are planned, and not sent with the agent. What of a
 * budget would not have come due in its time is not sent because that is over.
 */
export function lossBooksOf(losses: readonly Loss[]): LossBooks {
  const books = { planned: 0, notSentStopped: 0, notSentTimeOver: 0, lostWithAgent: 0, notSentWithAgent: 0 };
  const connectionsLost = { open: 0, opening: 0 };
  for (const loss of losses) {
    books.lostWithAgent += loss.lostRequests;
    connectionsLost.open += loss.openConnections;
    connectionsLost.opening += loss.openingConnections;
    const { missedRequests } = loss;
    if (loss.restRequests === undefined) {
      books.planned += missedRequests ?? 0;
      books.notSentWithAgent += loss.waitingRequests + (missedRequests ?? 0);
      continue;
    }
    books.planned -= loss.waitingRequests;
    if (loss.rest === 'taken') {
      books.planned -= loss.returnedRequests;
      books.notSentStopped -= loss.returnedRequests;
    } else {
      // What it booked as not sent itself stays booked as that.
      const rest = loss.restRequests - loss.returnedRequests;
      const due = Math.min((missedRequests ?? rest) + loss.waitingRequests, rest);
      books.planned += rest;
      books.notSentWithAgent += due;
      books.notSentTimeOver += rest - due;
    }
  }
  return { ...books, connectionsLost };
}

/** One sentence for each loss, with its numbers. */
export function lossSentence(loss: Loss): string {
  return `${whatHappened(loss)}; ${[...whatIsUnknown(loss), whatBecameOfRest(loss)].join('; ')}`;
}

function whatHappened({ cause, agentName, shardIndex, noticedAtMs, coveredToMs }: Loss): string {
  const shard = `shard ${shardIndex}`;
  const at = `${(noticedAtMs / 1_000).toFixed(1)} s`;
  const covered = `its numbers end at ${Math.round(coveredToMs / 1_000)} s`;
  switch (cause) {
    case 'lost':
      return `agent ${agentName} was lost with ${shard} (noticed at ${at}; ${covered})`;
    case 'forgotten':
      return `agent ${agentName} came back at ${at} without ${shard} (${covered})`;
    case 'left':
      return `agent ${agentName} left in order at ${at} and gave ${shard} back`;
  }
}

/** What it may have sent beyond what is counted; undefined where nothing of it came that would tell. */
export function unseenRequests({ unaccounted, unaccountedMax }: Loss): number | undefined {
  return unaccounted ?? unaccountedMax;
}

function whatIsUnknown(loss: Loss): string[] {
  const { lostRequests, unaccounted } = loss;
  const unseen = unseenRequests(loss);
  const texts: string[] = [];
  if (lostRequests > 0) texts.push(`the outcome of ${formatCounted(lostRequests, 'request')} is not known`);
  if (unaccounted !== undefined) {
    if (unaccounted > 0) texts.push(`it sent ${formatCount(unaccounted)} more that are counted nowhere`);
  } else if (unseen === undefined) {
    texts.push('nobody knows what it sent');
  } else if (unseen > 0) {
    texts.push(`it may have sent at most ${formatCount(unseen)} more that are counted nowhere`);
  }
  return texts;
}

function whatBecameOfRest({ rest, restRequests, missedRequests = 0, takenBy }: Loss): string {
  const other = `its other ${formatCounted(restRequests ?? missedRequests, 'request')}`;
  switch (rest) {
    case 'none':
      return 'nothing was left of it';
    case 'waiting':
      return `${restRequests === undefined ? 'the rest of its load' : other} waits for a free slot`;
    case 'dropped':
      return restRequests === undefined && missedRequests === 0
        ? 'nobody took the rest of its load over'
        : `not sent: ${other}`;
    case 'taken': {
      const what = restRequests === undefined ? 'the rest of its load' : other;
      const from = takenBy?.fromMs === undefined ? '' : ` at ${Math.round(takenBy.fromMs / 1_000)} s`;
      const beside = takenBy?.isExtra === true ? ', beside its own shards' : '';
      const missed =
        missedRequests === 0 ? '' : `; not sent until then: ${formatCounted(missedRequests, 'request')}`;
      return `agent ${takenBy?.agentName ?? ''} took ${what} over${from}${beside}${missed}`;
    }
  }
}
