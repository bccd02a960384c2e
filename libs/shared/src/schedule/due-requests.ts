/** How many requests a schedule has in a time: what a shard would have planned if nothing had gone wrong. Pure. */
import { dealtShare } from '../plan/deal.js';
import type { Shard, ShardPacing } from '../plan/shard.schema.js';
import type { Schedule } from './schedule.js';
import { scheduleOf } from './schedule-of.js';

/** An attempt at a shard, and when it began. */
export interface TimedShard {
  readonly shard: Pick<Shard, 'pacing' | 'durationMs' | 'warmupMs' | 'requests' | 'probe'>;
  /** Run time that its own time counts from. */
  readonly beginsMs: number;
  /** Run time at which its load began, where that was later; what was due before is not its own. */
  readonly fromMs?: number | undefined;
}

export interface LostLoad {
  readonly lost: TimedShard;
  /** What it planned by the end of its last interval, without its warm-up. */
  readonly planned: number;
  /** The attempt that took the rest over, where one did. */
  readonly rest?: TimedShard | undefined;
  /** When the run's load ended, where that was before its time: run time. Else infinite. */
  readonly untilMs: number;
  /**
   * Random arrivals that may be drawn one by one, at some 20 ns each. Those beyond count as the rate has them on
   * average.
   */
  readonly mostDraws: number;
}

/**
 * Requests of a schedule that fell due on a lost attempt behind its last interval, and that nobody else planned: all
 * of them where nobody took its rest over, else those until that went on. Without random arrivals the attempts and
 * these have together what the undisturbed shard would have planned; the arrivals of a rest are drawn anew.
 * @returns undefined where there is no schedule or no end in time, or where the rest has all that a budget left.
 */
export function missedRequests({ lost, planned, rest, untilMs, mostDraws }: LostLoad): number | undefined {
  const { pacing, requests } = lost.shard;
  if (rest !== undefined && requests !== undefined) return undefined;
  const dueUntil = (timed: TimedShard, ms: number): number | undefined => dueOn(timed, ms, mostDraws);
  const isRandom = pacing?.arrivals === 'poisson';
  const goesOnMs = rest === undefined ? untilMs : Math.max(rest.beginsMs, rest.fromMs ?? 0);
  const due = dueUntil(lost, isRandom ? Math.min(goesOnMs, untilMs) : untilMs);
  if (due === undefined) return undefined;
  const taken = rest === undefined || isRandom ? 0 : (dueUntil(rest, untilMs) ?? 0);
  return Math.max(due - taken - planned, 0);
}

/** Those of the warm-up are not among them; a probe that counts is. */
function dueOn(timed: TimedShard, untilMs: number, mostDraws: number): number | undefined {
  const { shard, beginsMs, fromMs = beginsMs } = timed;
  const { pacing, durationMs, warmupMs = 0, requests = Number.POSITIVE_INFINITY, probe } = shard;
  if (pacing === undefined || durationMs === undefined) return undefined;
  const ownBefore = (ms: number): number => {
    const lastsMs = Math.max(Math.min(ms - beginsMs - warmupMs, durationMs), 0);
    const all = lastsMs === 0 ? 0 : dueInSchedule(pacing, lastsMs * 1_000, mostDraws);
    return dealtShare(all, pacing.lanes ?? [pacing.firstIndex], pacing.stride);
  };
  const own = Math.max(ownBefore(untilMs) - ownBefore(fromMs), 0);
  return Math.min(own + (probe && warmupMs === 0 ? 1 : 0), requests);
}

/** Requests over all shards whose planned time is before an instant. */
function dueInSchedule(pacing: ShardPacing, untilUs: number, mostDraws: number): number {
  const average = scheduleOf({ ...pacing, arrivals: 'constant' });
  if (pacing.arrivals === 'constant') return firstNotBefore(average, untilUs);
  const random = scheduleOf(pacing);
  let drawn = 0;
  let atUs = 0;
  for (; drawn < mostDraws; drawn++) {
    atUs = random.plannedUs(drawn);
    if (atUs >= untilUs) return drawn;
  }
  return drawn + firstNotBefore(average, untilUs) - firstNotBefore(average, atUs);
}

/** Smallest number whose planned time is not before an instant. Planned times rise with the number. */
function firstNotBefore(schedule: Schedule, untilUs: number): number {
  let [low, high] = [0, 1];
  while (schedule.plannedUs(high) < untilUs) high *= 2;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (schedule.plannedUs(middle) < untilUs) low = middle + 1;
    else high = middle;
  }
  return low;
}
