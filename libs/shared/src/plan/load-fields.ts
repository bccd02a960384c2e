import { z } from 'zod';
import { LIMITS } from '../limits.js';
import type { NameOfField } from './naming-issue.js';
import { durationMs, wholeNumber } from './quantity.schema.js';
import { strictFields } from './strict-fields.js';

/** How the times of sends follow from a rate: evenly, or at random as independent users would send. */
export const ARRIVALS = ['constant', 'poisson'] as const;
export type Arrivals = (typeof ARRIVALS)[number];

function ratePerS(problemOfLeast: string) {
  const expected = 'must be a number of requests per second';
  return z.number(expected).min(0, problemOfLeast).max(LIMITS.maxRate, `must be at most ${LIMITS.maxRate}`);
}

const stage = strictFields(
  {
    durationMs: durationMs(LIMITS.maxDurationMs).optional(),
    /** Other spelling of `durationMs`. */
    duration: durationMs(LIMITS.maxDurationMs).optional(),
    /** What the stage ends with: requests per second, or connections. */
    rate: ratePerS('must be at least 0').optional(),
    connections: wholeNumber(LIMITS.maxConnections, 0).optional(),
  },
  'must be a map with a duration, and a rate or connections',
).transform((given, context) => {
  const { rate, connections } = given;
  const lasts = given.durationMs ?? given.duration;
  const hasOneDuration = (given.durationMs === undefined) !== (given.duration === undefined);
  if (lasts === undefined || !hasOneDuration || (rate === undefined) === (connections === undefined)) {
    context.addIssue({ code: 'custom', message: 'must have a duration, and a rate or connections' });
    return z.NEVER;
  }
  return {
    durationMs: lasts,
    ...(rate === undefined ? {} : { rate }),
    ...(connections === undefined ? {} : { connections }),
  };
});

/** One stage of a plan: linear from what the stage before ended with to its own value. */
export type Stage = Readonly<z.output<typeof stage>>;

/** The fields of a plan that say when requests are sent. */
export const loadFields = {
  /**
   * Requests per second over all shards, fractions allowed. Absent, and without stages: the closed model, in
   * which each connection sends when its reply is complete. With stages of a rate: what the first begins with.
   */
  rate: ratePerS('must be above 0')
    .refine((rate) => rate > 0, 'must be above 0')
    .optional(),
  /** Absent: constant. */
  arrivals: z.enum(ARRIVALS, 'must be constant or poisson').optional(),
  /** Of random arrivals: the same seed gives the same schedule, whatever the number of shards. */
  seed: wholeNumber(LIMITS.maxSeed, 0).optional(),
  /** Piecewise linear, in rate or in connections; the first begins at `rate`, or at 0. */
  stages: z.array(stage).min(1).max(LIMITS.maxStages).optional(),
  /** Load before the measured time, whole seconds, on top of the duration. Counted in no total. */
  warmupMs: durationMs(LIMITS.maxDurationMs).optional(),
  /** Other spelling of `warmupMs`. */
  warmup: durationMs(LIMITS.maxDurationMs).optional(),
  /** Requests in flight on one connection at most. Absent: 1. */
  pipeline: wholeNumber(LIMITS.maxPipeline).optional(),
  /**
   * Whether an idempotent request (RFC 9110 section 9.2.2) on a reused connection that was closed without any
   * reply is sent once more, on a new connection.
   */
  retryIdempotent: z.boolean().optional(),
};

interface LoadPlan {
  readonly rate?: number | undefined;
  readonly arrivals?: Arrivals | undefined;
  readonly seed?: number | undefined;
  readonly stages?: readonly Stage[] | undefined;
  readonly warmupMs?: number | undefined;
  readonly warmup?: number | undefined;
  readonly durationMs?: number | undefined;
  readonly duration?: number | undefined;
  readonly connections?: number | undefined;
  readonly pipeline?: number | undefined;
  readonly keepAlive: boolean;
}

/** Whether requests are sent by a schedule, and not when a connection is free. */
export function isPaced({ rate, stages }: Pick<LoadPlan, 'rate' | 'stages'>): boolean {
  return rate !== undefined || stages?.some((one) => one.rate !== undefined) === true;
}

/** Largest number of connections of the stages; undefined where they are not in connections. */
export function stagedConnections(stages: readonly Stage[] | undefined): number | undefined {
  const counts = (stages ?? []).flatMap(({ connections }) =>
    connections === undefined ? [] : [connections],
  );
  return counts.length === 0 ? undefined : Math.max(...counts);
}

export function stagesDurationMs(stages: readonly Stage[]): number {
  return stages.reduce((sum, one) => sum + one.durationMs, 0);
}

/** How long the load lasts, its warm-up included; undefined where only requests end it. */
export function loadDurationMs(plan: Pick<LoadPlan, 'durationMs' | 'warmupMs'>): number | undefined {
  return plan.durationMs === undefined ? undefined : plan.durationMs + (plan.warmupMs ?? 0);
}

/** What is wrong with the stages beside the other fields; undefined when nothing is. */
export function stagesProblem(plan: LoadPlan, nameOf: NameOfField): string | undefined {
  const { stages, rate, connections } = plan;
  if (stages === undefined) return undefined;
  const inConnections = stagedConnections(stages);
  if (inConnections !== undefined && (rate !== undefined || stages.some((one) => one.rate !== undefined))) {
    return 'must be all in rate or all in connections';
  }
  if (inConnections === 0) return 'at least one stage must have connections';
  if (inConnections !== undefined && connections !== undefined && connections !== inConnections) {
    const name = nameOf('connections');
    return `give no ${name} beside stages of connections (their largest is ${inConnections})`;
  }
  if (inConnections === undefined && rate === undefined && stages.every((one) => one.rate === 0)) {
    return 'at least one stage must have a rate above 0';
  }
  const sumMs = stagesDurationMs(stages);
  if (sumMs > LIMITS.maxDurationMs) return `must take at most ${LIMITS.maxDurationMs / 1_000}s together`;
  const givenMs = plan.durationMs ?? plan.duration;
  return givenMs !== undefined && givenMs !== sumMs
    ? `take ${sumMs / 1_000}s together: give no other duration`
    : undefined;
}

/** What is wrong with a field about the chance in a schedule where there is no schedule. */
export function randomnessProblem<Field extends 'arrivals' | 'seed'>(field: Field) {
  return (plan: Pick<LoadPlan, Field | 'rate' | 'stages'>): string | undefined =>
    plan[field] !== undefined && !isPaced(plan) ? 'needs a rate' : undefined;
}

export function warmupProblem(
  plan: Pick<LoadPlan, 'warmup' | 'warmupMs' | 'stages' | 'rate'>,
  nameOf: NameOfField,
): string | undefined {
  const { warmup, warmupMs } = plan;
  if (warmup !== undefined && warmupMs !== undefined) {
    return `give ${nameOf('warmup')} or ${nameOf('warmupMs')}, not both`;
  }
  const wantedMs = warmup ?? warmupMs;
  if (wantedMs === undefined) return undefined;
  if (wantedMs % LIMITS.intervalMs !== 0) return 'must be whole seconds';
  if (stagedConnections(plan.stages) !== undefined) {
    return 'cannot be used with stages of connections: make it a stage';
  }
  return plan.stages !== undefined && plan.rate === undefined
    ? 'needs a rate beside stages: the warm-up keeps the rate that the first stage begins with'
    : undefined;
}

export function pipelineProblem(
  { pipeline, keepAlive }: Pick<LoadPlan, 'pipeline' | 'keepAlive'>,
  nameOf: NameOfField,
): string | undefined {
  return (pipeline ?? 1) > 1 && !keepAlive
    ? `needs connections that are kept alive: see ${nameOf('keepAlive')}`
    : undefined;
}
