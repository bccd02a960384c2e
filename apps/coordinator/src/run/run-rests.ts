/**
 * What lost attempts leave behind: the entry in the books, and the rest of their load until another attempt takes
 * it over or nobody does. Pure: it is told the time, and whom there is room with (docs/adr/0002).
 */
import {
  counterOf,
  isTimeBound,
  LIMITS,
  type Loss,
  loadDurationMs,
  openBooksOf,
  restOfShard,
  type Shard,
} from '@broadside/shared';
import { laterSlice } from '../shard/start-barrier.js';
import type { Taker } from './rest-taker.js';
import { ShardProgress } from './shard-progress.js';

/** A rest that nobody could carry out so often is not tried again: something is wrong with it, or everywhere. */
const MAX_TRIES = 5;
/** From the choice of an agent to its slot being ready: of a rest that is over sooner nothing could be done. */
const LEAD_MS = 500;

interface Rest {
  /** The lost attempt. */
  readonly from: ShardProgress;
  readonly shardIndex: number;
  tries: number;
  /** Who is to do it, from the choice on until that attempt begins, or fails to. */
  taker: ShardProgress | undefined;
}

export interface LossCircumstances {
  readonly cause: Loss['cause'];
  /** Run time. */
  readonly noticedAtMs: number;
  /** What the attempt booked as not sent itself, and another one may send. */
  readonly returnedRequests?: number;
  /** False: nobody is to take over what is left. */
  readonly isWanted: boolean;
}

export class RunRests {
  readonly #losses = new Map<string, Loss>();
  #rests: Rest[] = [];
  /** Numbers of the newest attempts, by shard. */
  readonly #attempts = new Map<number, number>();
  #groups = 0;

  /** In the order in which they were noticed. */
  get losses(): Loss[] {
    return [...this.#losses.values()];
  }

  /** Whether something waits for a slot. */
  get isWaiting(): boolean {
    return this.#rests.some((rest) => rest.taker === undefined);
  }

  /**
   * Run time before which the load of an attempt is not its own: that of the lost one had not begun yet, and what was
   * due until then is booked as missed.
   */
  notBeforeMs(progress: ShardProgress): number {
    return this.#rests.find((rest) => rest.taker === progress)?.from.fromMs ?? 0;
  }

  isLost(progress: ShardProgress): boolean {
    return this.#losses.has(progress.key);
  }

  /** Books the end of an attempt that no longer counts. */
  lose(progress: ShardProgress, circumstances: LossCircumstances): Loss {
    const { shard, counted, startSlice = 0 } = progress;
    const { cause, noticedAtMs, returnedRequests = 0, isWanted } = circumstances;
    const { used, ...open } = openBooksOf(counted);
    const restRequests =
      shard.requests === undefined ? undefined : Math.max(shard.requests - used + returnedRequests, 0);
    const isLeft = isSomethingLeft(progress, restRequests);
    const coveredToMs = (startSlice + progress.coveredSlices) * LIMITS.intervalMs;
    const unaccountedMax =
      cause === 'left' ? 0 : unaccountedMaxOf(progress, noticedAtMs - coveredToMs, restRequests);
    const loss: Loss = {
      shardIndex: shard.shardIndex,
      attempt: shard.attempt,
      agentId: progress.agentId,
      agentName: progress.agentName,
      cause,
      coveredToMs,
      noticedAtMs: Math.max(Math.round(noticedAtMs), 0),
      ...open,
      returnedRequests,
      ...(restRequests === undefined ? {} : { restRequests }),
      rest: isLeft ? (isWanted ? 'waiting' : 'dropped') : 'none',
      ...(unaccountedMax === undefined ? {} : { unaccountedMax }),
    };
    this.#losses.set(progress.key, loss);
    if (loss.rest === 'waiting') {
      this.#rests.push({ from: progress, shardIndex: shard.shardIndex, tries: 0, taker: undefined });
    }
    return loss;
  }

  /** Takes up a loss that an earlier coordinator had booked; what waited then waits again. */
  restore(loss: Loss, progress: ShardProgress, taker: ShardProgress | undefined): void {
    this.#losses.set(progress.key, loss);
    if (loss.rest === 'waiting') {
      this.#rests.push({ from: progress, shardIndex: loss.shardIndex, tries: 0, taker });
    }
  }

  /** Notes an attempt that was made elsewhere, so that its number and group are not given out again. */
  noteAttempt({ shard, group }: ShardProgress): void {
    this.#attempts.set(shard.shardIndex, Math.max(this.#attempts.get(shard.shardIndex) ?? 1, shard.attempt));
    this.#groups = Math.max(this.#groups, group);
  }

  /** The whole shard once more, for an attempt that was lost before the start. */
  again(progress: ShardProgress, taker: Taker): ShardProgress {
    const { shardIndex } = progress.shard;
    const again = this.#attemptOf({ ...progress.shard, attempt: this.#nextAttempt(shardIndex) }, taker);
    again.startSlice = 0;
    return again;
  }

  /**
   * Gives the oldest rest that waits to an agent that has room.
   * @param nowMs run time.
   * @returns the attempt that is to be carried out; undefined when nothing waits, or its time is over.
   */
  place(taker: Taker, nowMs: number): ShardProgress | undefined {
    for (const rest of this.#rests.filter((each) => each.taker === undefined)) {
      const shard = this.#shardOf(rest, nowMs);
      if (shard === undefined) {
        this.#drop(rest);
        continue;
      }
      const attempt = this.#attemptOf(shard.shard, taker);
      attempt.startSlice = shard.startSlice;
      rest.taker = attempt;
      return attempt;
    }
    return undefined;
  }

  /**
   * When the attempt is to begin is named; `begun` or `failed` follows.
   * @param isExtra its agent carries it beside as many shards as it has slots.
   */
  begins(progress: ShardProgress, isExtra: boolean): void {
    const rest = this.#rests.find((each) => each.taker === progress);
    if (rest === undefined) return;
    this.#change(rest, {
      rest: 'taken',
      takenBy: {
        attempt: progress.shard.attempt,
        agentId: progress.agentId,
        agentName: progress.agentName,
        fromMs: progress.fromMs ?? 0,
        ...(isExtra ? { isExtra } : {}),
      },
    });
  }

  /** It has begun: what it does is no longer anybody's rest. */
  begun(progress: ShardProgress): void {
    this.#rests = this.#rests.filter((each) => each.taker !== progress);
  }

  /**
   * The attempt will not begin: the rest waits again.
   * @param wasTried false when no agent has heard of it: that says nothing about the rest.
   */
  failed(progress: ShardProgress, wasTried: boolean): void {
    const rest = this.#rests.find((each) => each.taker === progress);
    if (rest === undefined) return;
    rest.taker = undefined;
    this.#change(rest, { rest: 'waiting' });
    if (wasTried) rest.tries++;
    if (rest.tries >= MAX_TRIES) this.#drop(rest);
  }

  /** Nobody will take over what is still waiting. */
  dropAll(): void {
    for (const rest of this.#rests) this.#drop(rest);
  }

  /** What a lost attempt sent in all, as its agent says. */
  abandoned(progress: ShardProgress, sent: number): void {
    const loss = this.#losses.get(progress.key);
    if (loss === undefined) return;
    const counted = counterOf(progress.counted, 'sent');
    this.#losses.set(progress.key, { ...loss, unaccounted: Math.max(sent - counted, 0) });
  }

  #shardOf(rest: Rest, nowMs: number): { shard: Shard; startSlice: number | undefined } | undefined {
    const { from, shardIndex } = rest;
    const attempt = this.#nextAttempt(shardIndex);
    const { restRequests: requests } = this.#losses.get(from.key) ?? {};
    if (nowMs + LEAD_MS >= endMsOf(from)) return undefined;
    // Its time is running already. Its load begins when its slot is ready, which nobody knows now.
    const startSlice = isTimeBound(from.shard) ? laterSlice(nowMs) : undefined;
    const atMs = startSlice === undefined ? 0 : (startSlice - (from.startSlice ?? 0)) * LIMITS.intervalMs;
    const shard = restOfShard(from.shard, { attempt, requests, atMs: Math.max(atMs, 0) });
    return shard === undefined ? undefined : { shard, startSlice };
  }

  #attemptOf(shard: Shard, { agentId, agentName }: Taker): ShardProgress {
    const progress = new ShardProgress(shard, agentId, agentName, this.#groups + 1);
    this.noteAttempt(progress);
    return progress;
  }

  #nextAttempt(shardIndex: number): number {
    return (this.#attempts.get(shardIndex) ?? 1) + 1;
  }

  #drop(rest: Rest): void {
    this.#rests = this.#rests.filter((each) => each !== rest);
    this.#change(rest, { rest: 'dropped' });
  }

  #change({ from }: Rest, change: Partial<Loss>): void {
    const loss = this.#losses.get(from.key);
    if (loss !== undefined) this.#losses.set(from.key, { ...loss, ...change });
  }
}

/** Run time at which the attempt's time is over; infinite where none ends it. Its start slice is known. */
export function endMsOf({ shard, startSlice = 0 }: ShardProgress): number {
  return startSlice * LIMITS.intervalMs + (loadDurationMs(shard) ?? Number.POSITIVE_INFINITY);
}

/** Whether the attempt had more to do than is there of it. */
function isSomethingLeft({ shard, coveredSlices }: ShardProgress, restRequests: number | undefined): boolean {
  if (restRequests === 0) return false;
  const lastsMs = loadDurationMs(shard);
  return lastsMs === undefined || coveredSlices * LIMITS.intervalMs < lastsMs;
}

/**
 * What an attempt may have sent after its last interval, until its loss was noticed: as much in each slice as in
 * its busiest, and never more than it had left. Undefined where nothing is known of its rate.
 */
function unaccountedMaxOf(
  progress: ShardProgress,
  unseenMs: number,
  restRequests: number | undefined,
): number | undefined {
  if (progress.startSlice === undefined) return 0;
  const slices = Math.max(unseenMs, 0) / LIMITS.intervalMs;
  if (progress.coveredSlices === 0) return restRequests;
  const sent = Math.ceil(slices * progress.mostPerSlice);
  return restRequests === undefined ? sent : Math.min(sent, restRequests);
}
