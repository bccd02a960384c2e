// The queue as both sides know it: groups of shards under a parent, each claimed once by a slot of its agent, with
// results that wait while it is away. It forgets nothing.

import type {
  EnqueuedGroup,
  GroupName,
  PlacedShard,
  RunServices,
  ShardEnding,
} from '@broadside/coordinator/core';
import { type Shard, type ShardResult, shardAttemptKey } from '@broadside/shared';
import type { Random } from '../../libs/shared/src/testing/random.js';
import type { ProcessTimers, VirtualTime } from './virtual-time.js';

interface Job {
  readonly shard: Shard;
  readonly agentId: string;
  readonly group: Group;
  state: 'waiting' | 'active' | 'ended' | 'removed';
  isReleased: boolean;
}

interface Group {
  readonly name: GroupName;
  readonly jobs: Map<string, Job>;
  readonly endings: Map<string, ShardEnding>;
  wasTold: boolean;
}

interface Consumer {
  readonly agentId: string;
  readonly slots: number;
  readonly timers: ProcessTimers;
  readonly carryOut: (shard: Shard) => Promise<ShardResult>;
  active: number;
  isPaused: boolean;
}

type OnEnded = Parameters<RunServices['queue']['listen']>[0];

const STEP_MS = 15;

export class VirtualQueue {
  readonly #time: VirtualTime;
  readonly #random: Random;
  readonly #groups = new Map<string, Group>();
  readonly #jobs = new Map<string, Job>();
  readonly #consumers = new Set<Consumer>();
  #listener: { readonly timers: ProcessTimers; readonly onEnded: OnEnded } | undefined;
  #isUp = true;
  /** What waits until it is back. */
  #held: (() => void)[] = [];

  constructor(time: VirtualTime, random: Random) {
    this.#time = time;
    this.#random = random;
  }

  goDown(): void {
    this.#isUp = false;
  }

  comeBack(): void {
    this.#isUp = true;
    for (const act of this.#held.splice(0)) act();
  }

  /** The queue as one coordinator process reaches it. */
  connect(timers: ProcessTimers): RunServices['queue'] {
    return {
      listen: (onEnded) => {
        this.#listener = { timers, onEnded };
        this.#tellEnded();
      },
      enqueue: (name, placed) => this.#ask(timers, () => this.#enqueue(timers, name, placed)),
      reopen: (placed) =>
        this.#handle(
          timers,
          placed.map(({ shard }) => shardAttemptKey(shard)),
        ),
      endingsTold: (name) =>
        this.#patiently(timers, () => {
          const group = this.#groups.get(nameOf(name));
          return group?.wasTold === true ? new Map(group.endings) : undefined;
        }),
      endingsSoFar: (name) =>
        this.#ask(timers, () => new Map(this.#groups.get(nameOf(name))?.endings ?? [])).catch(
          () => new Map(),
        ),
      isKnown: (name) => this.#patiently(timers, () => this.#groups.has(nameOf(name))),
      assertReachable: () => Promise.resolve(),
      forgetAgent: () => Promise.resolve(),
    };
  }

  /** A consumer for an agent's shards. */
  consume(given: Omit<Consumer, 'active' | 'isPaused'>): { pause(): void } {
    const consumer: Consumer = { ...given, active: 0, isPaused: false };
    this.#consumers.add(consumer);
    this.#claim();
    return {
      pause: () => {
        consumer.isPaused = true;
      },
    };
  }

  /** Fails while the queue is away, as a command that is not kept. */
  #ask<T>(timers: ProcessTimers, act: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      timers.after(this.#random.int(0, STEP_MS), () => {
        if (this.#isUp) resolve(act());
        else reject(new Error('the queue does not answer'));
      });
    });
  }

  /** Waits while the queue is away. */
  #patiently<T>(timers: ProcessTimers, act: () => T): Promise<T> {
    return new Promise((resolve) => {
      timers.after(this.#random.int(0, STEP_MS), () => this.#whenUp(() => timers.run(() => resolve(act()))));
    });
  }

  #whenUp(act: () => void): void {
    if (this.#isUp) act();
    else this.#held.push(act);
  }

  #enqueue(timers: ProcessTimers, name: GroupName, placed: readonly PlacedShard[]): EnqueuedGroup {
    const group: Group = { name, jobs: new Map(), endings: new Map(), wasTold: false };
    this.#groups.set(nameOf(name), group);
    for (const { shard, agentId } of placed) {
      const job: Job = { shard, agentId, group, state: 'waiting', isReleased: false };
      group.jobs.set(shardAttemptKey(shard), job);
      this.#jobs.set(shardAttemptKey(shard), job);
    }
    this.#claim();
    return this.#handle(timers, [...group.jobs.keys()]);
  }

  #handle(timers: ProcessTimers, keys: readonly string[]): EnqueuedGroup {
    const release = (key: string): Promise<boolean> =>
      this.#ask(timers, () => {
        const job = this.#jobs.get(key);
        if (job !== undefined) job.isReleased = true;
        this.#tellEnded();
        return true;
      }).catch(() => false);
    const withdraw = (key: string): Promise<boolean> =>
      this.#ask(timers, () => {
        const job = this.#jobs.get(key);
        if (job?.state !== 'waiting') return false;
        job.state = 'removed';
        job.isReleased = true;
        this.#tellEnded();
        return true;
      }).catch(() => false);
    return {
      release,
      withdraw,
      abandon: async () => {
        for (const key of keys) {
          await release(key);
          await withdraw(key);
        }
      },
    };
  }

  #claim(): void {
    if (!this.#isUp) {
      this.#held.push(() => this.#claim());
      return;
    }
    for (const consumer of this.#consumers) {
      if (consumer.timers.isDead) {
        this.#consumers.delete(consumer);
        continue;
      }
      for (const job of this.#jobs.values()) {
        if (consumer.isPaused || consumer.active >= consumer.slots) break;
        if (job.agentId !== consumer.agentId || job.state !== 'waiting') continue;
        job.state = 'active';
        consumer.active++;
        consumer.timers.after(this.#random.int(1, STEP_MS), () => void this.#work(consumer, job));
      }
    }
  }

  async #work(consumer: Consumer, job: Job): Promise<void> {
    const ending = await consumer.carryOut(job.shard).then(
      (result): ShardEnding => ({ kind: 'result', result }),
      (error: unknown): ShardEnding => ({
        kind: 'failed',
        reason: error instanceof Error ? error.message : String(error),
      }),
    );
    consumer.timers.after(this.#random.int(1, STEP_MS), () =>
      this.#whenUp(() =>
        consumer.timers.run(() => {
          consumer.active--;
          if (job.state === 'active') job.state = 'ended';
          if (!job.isReleased) job.group.endings.set(shardAttemptKey(job.shard), ending);
          this.#tellEnded();
          this.#claim();
        }),
      ),
    );
  }

  /** Parents become active when nothing holds them up, and the coordinator that listens is told. */
  #tellEnded(): void {
    const listener = this.#listener;
    if (listener === undefined || listener.timers.isDead) return;
    for (const group of this.#groups.values()) {
      const isOver = [...group.jobs.values()].every((job) => job.isReleased || job.state === 'ended');
      if (group.wasTold || !isOver) continue;
      if (!this.#isUp) {
        this.#held.push(() => this.#tellEnded());
        return;
      }
      group.wasTold = true;
      this.#time.after(this.#random.int(1, STEP_MS), () =>
        listener.timers.run(() => listener.onEnded(group.name, new Map(group.endings))),
      );
    }
  }
}

function nameOf({ runId, group }: GroupName): string {
  return `${runId}.${group}`;
}
