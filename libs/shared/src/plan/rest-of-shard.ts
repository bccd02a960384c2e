/** What is left of a shard when an attempt at it ended before its load was done. */
import { LIMITS } from '../limits.js';
import type { Shard, ShardPacing } from './shard.schema.js';

export interface RestWish {
  /** Number of the attempt that takes the rest over. */
  readonly attempt: number;
  /** Requests of the budget that no attempt has taken up; absent where the shard has no such budget. */
  readonly requests?: number | undefined;
  /** When the rest begins, in ms after the start of the attempt that is replaced; whole intervals. */
  readonly atMs: number;
}

/** Whether what is left depends on when it begins: a time that runs out, or stages. */
export function isTimeBound(shard: Shard): boolean {
  return (
    shard.durationMs !== undefined ||
    shard.pacing?.stages !== undefined ||
    shard.connectionStages !== undefined
  );
}

/**
 * The shard that does what is left: the remaining requests, for the remaining time, at the rate and with the
 * connections that the whole shard would have had from then on. Its times count from its own start instant.
 * @returns undefined when nothing is left.
 */
export function restOfShard(shard: Shard, wish: RestWish): Shard | undefined {
  const { attempt, requests, atMs } = wish;
  const { warmupMs, durationMs, requests: _whole, pacing, connectionStages, ...same } = shard;
  const warmupLeftMs = Math.max((warmupMs ?? 0) - atMs, 0);
  const intoMs = Math.max(atMs - (warmupMs ?? 0), 0);
  const durationLeftMs = durationMs === undefined ? undefined : durationMs - intoMs;
  if (requests === 0 || (durationLeftMs !== undefined && durationLeftMs <= 0)) return undefined;
  return {
    ...same,
    attempt,
    // The run's probe has been, or is nobody's any more.
    probe: false,
    ...(requests === undefined ? {} : { requests }),
    ...(durationLeftMs === undefined ? {} : { durationMs: durationLeftMs }),
    ...(warmupLeftMs === 0 ? {} : { warmupMs: warmupLeftMs }),
    ...(pacing === undefined ? {} : { pacing: restOfPacing(pacing, intoMs, attempt) }),
    ...(connectionStages === undefined
      ? {}
      : { connectionStages: restOfConnections(connectionStages, intoMs) }),
  };
}

/** Of a schedule at random only the rate is continued: another seed, or its beginning would come again. */
function restOfPacing(pacing: ShardPacing, intoMs: number, attempt: number): ShardPacing {
  const { stages, rate, seed, ...same } = pacing;
  const continued = { ...same, seed: (seed + attempt - 1) % (LIMITS.maxSeed + 1) };
  if (stages === undefined) return { ...continued, rate };
  const levels = stages.map((stage) => ({ durationMs: stage.durationMs, level: stage.rate }));
  const rest = restOfStages(levels, rate, intoMs);
  return {
    ...continued,
    rate: rest.level,
    stages: rest.stages.map(({ durationMs, level }) => ({ durationMs, rate: level })),
  };
}

type ConnectionStages = NonNullable<Shard['connectionStages']>;

function restOfConnections(stages: ConnectionStages, intoMs: number): ConnectionStages {
  const levels = stages.map((stage) => ({ durationMs: stage.durationMs, level: stage.connections }));
  const rest = restOfStages(levels, 0, intoMs);
  const left = rest.stages.map(({ durationMs, level }) => ({ durationMs, connections: level }));
  const level = Math.round(rest.level);
  // Stages of connections begin at none, so the level that was reached is a stage of its own.
  return level === 0 ? left : [{ durationMs: 1, connections: level }, ...left].slice(0, LIMITS.maxStages);
}

interface Level {
  readonly durationMs: number;
  /** What the stage ends with. */
  readonly level: number;
}

/** Cuts off the first `intoMs` of piecewise linear stages. @returns the level there, and what follows. */
function restOfStages(
  stages: readonly Level[],
  from: number,
  intoMs: number,
): { readonly level: number; readonly stages: readonly Level[] } {
  let level = from;
  let leftMs = intoMs;
  for (const [i, stage] of stages.entries()) {
    if (leftMs < stage.durationMs) {
      const reached = level + ((stage.level - level) * leftMs) / stage.durationMs;
      const rest = { durationMs: stage.durationMs - leftMs, level: stage.level };
      return { level: reached, stages: [rest, ...stages.slice(i + 1)] };
    }
    leftMs -= stage.durationMs;
    level = stage.level;
  }
  return { level, stages: [] };
}
