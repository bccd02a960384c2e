import { type Fatal, LIMITS, loadDurationMs } from '@broadside/shared';
import { StartBarrier } from '../shard/start-barrier.js';
import { NamedTimers } from './named-timers.js';
import { RunAgents } from './run-agents.js';
import { RunBooks } from './run-books.js';
import { RunGroups } from './run-groups.js';
import { RunJournal } from './run-journal.js';
import { RunOrders } from './run-orders.js';
import { RunReissue } from './run-reissue.js';
import type { RunHead, RunServices } from './run-services.js';
import { RunShards } from './run-shards.js';
import type { ShardProgress } from './shard-progress.js';

/** Why a run ends otherwise than by having done its load. */
export interface RunReasons {
  /** A person or a program stopped it. */
  stopReason: string | undefined;
  /** The coordinator ended it. */
  failure: string | undefined;
  /** Fatal error of the probe. */
  probeFatal: Fatal | undefined;
}

/** What those that carry out one run share. */
export interface RunParts {
  readonly head: RunHead;
  readonly services: RunServices;
  readonly shards: RunShards;
  readonly agents: RunAgents;
  readonly barrier: StartBarrier;
  readonly orders: RunOrders;
  readonly books: RunBooks;
  readonly groups: RunGroups;
  readonly journal: RunJournal;
  readonly timers: NamedTimers;
  readonly reissue: RunReissue;
  readonly reasons: RunReasons;
}

/** What they can ask of the run as a whole. */
export interface RunControl {
  /** As a person would. */
  stop(reason: string): void;
  /** Ends the load, and the run fails with this reason. */
  fail(reason: string): void;
  /** Ends the load because of what a shard said. */
  stopShards(reason: string): void;
  sayOrder(progress: ShardProgress): void;
  /** @param pending a start instant that is not told yet. */
  saveNotes(pending?: { readonly startAtUs?: number }): void;
  /** The load's time is over. */
  endLoad(): void;
  checkEnd(): void;
  readonly isClosing: boolean;
}

export function createRunParts(
  services: RunServices,
  head: RunHead,
  first: readonly ShardProgress[],
  control: RunControl,
): RunParts {
  const shards = new RunShards(first);
  const agents = new RunAgents(services.registry, first);
  const groups = new RunGroups(head.id, services);
  const timers = new NamedTimers(services.timers);
  const barrier = new StartBarrier({ shardCount: shards.count, wantsProbe: head.plan.probe });
  const orders = new RunOrders(barrier);
  const reasons: RunReasons = { stopReason: undefined, failure: undefined, probeFatal: undefined };
  const journal = new RunJournal({
    runId: head.id,
    services,
    describe: () => {
      const reason = reasons.failure ?? reasons.stopReason;
      const { startAtUs } = orders;
      const { warnings } = agents;
      return {
        ...(reason === undefined ? {} : { reason }),
        shards: shards.count,
        agents: agents.count,
        ...(warnings.length === 0 ? {} : { warnings }),
        ...(startAtUs === undefined ? {} : { startAtUs }),
      };
    },
  });
  const durationMs = loadDurationMs(head.plan);
  const books = new RunBooks({
    runId: head.id,
    shardCount: shards.count,
    expectedSeconds: durationMs === undefined ? undefined : Math.ceil(durationMs / LIMITS.intervalMs),
    write: (frame) => services.writer.write(frame),
    send: (agentId, message) => services.registry.send(agentId, message),
    publish: (message) => services.events.emit('live-message', message),
    onSettled: () => control.checkEnd(),
  });
  const shared = { head, services, shards, agents, barrier, orders, books, groups, journal, timers, reasons };
  const reissue = new RunReissue({
    ...shared,
    runId: head.id,
    on: head.plan.on ?? {},
    onBegun: (progress) => control.sayOrder(progress),
    isOffSlot: (progress) => progress.hasEnded || books.isDelivered(progress),
    onChange: () => {
      control.saveNotes();
      control.checkEnd();
    },
  });
  return { ...shared, reissue };
}

/** One of those that begin together: a first attempt, or one that replaced it before the start. */
export function isOfStart({ startSlice, shard }: ShardProgress): boolean {
  return startSlice === 0 || shard.attempt === 1;
}

/** Nothing more is expected of the attempt. */
export function isOver({ books }: Pick<RunParts, 'books'>, progress: ShardProgress): boolean {
  if (progress.isFenced || progress.didNothing) return true;
  return progress.hasEnded && books.isDelivered(progress);
}
