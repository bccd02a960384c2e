import type { LiveMessage, Plan } from '@broadside/shared';
import type { Logger } from 'pino';
import type { AgentRegistry } from '../agent/agent-registry.js';
import type { Clock, Timers } from '../clock.js';
import type { CoordinatorEvents } from '../events.js';
import type { IntervalRepository } from '../interval/interval.repository.js';
import type { IntervalWriter } from '../interval/interval-writer.js';
import type { PlanGate } from '../safety/plan-gate.js';
import type { ShardQueue } from '../shard/shard-queue.js';
import type { RunRepository } from './run.repository.js';

/** What runs are carried out with; the same for all of them. */
export interface RunServices {
  readonly gate: Pick<PlanGate, 'assertAllowed' | 'whyHeld'>;
  readonly registry: AgentRegistry;
  readonly queue: Pick<
    ShardQueue,
    | 'listen'
    | 'assertReachable'
    | 'enqueue'
    | 'reopen'
    | 'isKnown'
    | 'endingsTold'
    | 'endingsSoFar'
    | 'forgetAgent'
  >;
  readonly writer: Pick<IntervalWriter, 'write'>;
  readonly intervals: Pick<IntervalRepository, 'read'>;
  readonly runs: Pick<
    RunRepository,
    | 'insert'
    | 'change'
    | 'insertShards'
    | 'changeShards'
    | 'list'
    | 'find'
    | 'failUnfinished'
    | 'loadUnfinished'
    | 'loadShards'
  >;
  readonly events: CoordinatorEvents;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Logger;
  /** Whether runs of an earlier coordinator can go on: their agents and their queue may have survived it. */
  readonly canResume: boolean;
}

/** What is fixed about a run when it is accepted. */
export interface RunHead {
  readonly id: string;
  readonly plan: Plan;
  readonly createdAt: Date;
}

/** The state of a run as watchers see it. */
export type StateMessage = Extract<LiveMessage, { kind: 'state' }>;
