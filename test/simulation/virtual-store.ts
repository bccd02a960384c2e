// A store that outlives its coordinators: what is committed stays, what is on its way when one dies does not.

import type {
  AssignedShard,
  NewRun,
  RunChange,
  RunServices,
  ShardChange,
  StoredFrame,
  StoredShard,
  UnfinishedRun,
} from '@broadside/coordinator/core';
import {
  decodeInterval,
  type Interval,
  isFinalState,
  type Report,
  type RunDetail,
  type RunState,
  type RunSummary,
  type ShardAttempt,
  shardAttemptKey,
} from '@broadside/shared';
import type { Random } from '../../libs/shared/src/testing/random.js';
import type { ProcessTimers } from './virtual-time.js';

interface RunRow extends NewRun {
  state: RunState;
  reason: string | undefined;
  report: Report | undefined;
  notes: RunChange['notes'];
}

interface ShardRow extends Required<AssignedShard> {
  state: ShardChange['state'];
  startSlice: number | undefined;
  totals: Uint8Array | undefined;
  fatal: unknown;
}

export class VirtualStore {
  readonly runs = new Map<string, RunRow>();
  readonly shards = new Map<string, ShardRow>();
  /** By attempt, then by number. */
  readonly frames = new Map<string, Map<number, Uint8Array>>();
  /** Longest time of one statement. */
  slownessMs = 5;
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /** The store as one coordinator process reaches it. */
  connect(timers: ProcessTimers): Pick<RunServices, 'runs' | 'writer' | 'intervals'> {
    const commit = <T>(act: () => T): Promise<T> =>
      new Promise((resolve) => {
        timers.after(this.#random.int(0, this.slownessMs), () => resolve(act()));
      });
    // One statement after the other, as the writer does it: what is stored has no gap.
    let written: Promise<void> = Promise.resolve();
    const write = (frame: StoredFrame): Promise<void> => {
      written = written.then(() => commit(() => this.#append(frame)));
      return written;
    };
    return {
      writer: { write },
      intervals: { read: (attempt) => readLater(() => commit(() => this.#load(attempt))) },
      runs: {
        insert: (run) =>
          commit(() => {
            const unset = { reason: undefined, report: undefined, notes: undefined };
            this.runs.set(run.id, { ...run, state: 'queued', ...unset });
          }),
        change: (runId, change) => commit(() => this.#change(runId, change)),
        insertShards: (shards) =>
          commit(() => {
            for (const { shard, agentId, agentName, group = 0, startSlice } of shards) {
              const row = {
                shard,
                agentId,
                agentName,
                group,
                startSlice,
                totals: undefined,
                fatal: undefined,
              };
              this.shards.set(shardAttemptKey(shard), { ...row, state: 'assigned' });
            }
          }),
        changeShards: (changes) =>
          commit(() => {
            for (const { attempt, change } of changes) {
              const row = this.shards.get(shardAttemptKey(attempt));
              if (row !== undefined) Object.assign(row, withoutAbsent(change));
            }
          }),
        list: () => commit(() => [...this.runs.values()].map(summaryOf)),
        find: (runId) => commit(() => this.#find(runId)),
        failUnfinished: (reason, _endedAt, except = []) =>
          commit(() => {
            const left = [...this.runs.values()].filter(
              (run) => !isFinalState(run.state) && !except.includes(run.id),
            );
            for (const run of left) Object.assign(run, { state: 'failed', reason });
            return left.map((run) => run.id);
          }),
        loadUnfinished: () => commit(() => this.#unfinished()),
        loadShards: (runId) => commit(() => this.#shardsOf(runId)),
      },
    };
  }

  #append({ number, frame, ...attempt }: StoredFrame): void {
    const key = shardAttemptKey(attempt);
    const frames = this.frames.get(key) ?? new Map<number, Uint8Array>();
    this.frames.set(key, frames);
    if (!frames.has(number)) frames.set(number, frame);
  }

  #load(attempt: ShardAttempt): Interval[] {
    const frames = this.frames.get(shardAttemptKey(attempt)) ?? new Map<number, Uint8Array>();
    return [...frames].sort(([a], [b]) => a - b).map(([, frame]) => decodeInterval(frame));
  }

  #change(runId: string, change: RunChange): void {
    const row = this.runs.get(runId);
    if (row !== undefined) Object.assign(row, withoutAbsent(structuredClone(change)));
  }

  #find(runId: string): RunDetail | undefined {
    const row = this.runs.get(runId);
    if (row === undefined) return undefined;
    return { ...summaryOf(row), plan: row.plan, ...(row.report === undefined ? {} : { report: row.report }) };
  }

  #unfinished(): UnfinishedRun[] {
    return [...this.runs.values()]
      .filter((run) => !isFinalState(run.state))
      .map(({ id, plan, createdAt, state, notes }) => ({ id, plan, createdAt, state, notes }));
  }

  #shardsOf(runId: string): StoredShard[] {
    return [...this.shards.values()]
      .filter((row) => row.shard.runId === runId)
      .sort((a, b) => a.group - b.group || a.shard.shardIndex - b.shard.shardIndex)
      .map((row) => ({ ...row, fatal: undefined }));
  }
}

function withoutAbsent<T extends object>(change: T): Partial<T> {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) as Partial<T>;
}

function summaryOf({ id, state, reason, plan, createdAt }: RunRow): RunSummary {
  return {
    id,
    state,
    ...(reason === undefined ? {} : { reason }),
    target: plan.target,
    createdAt: createdAt.toISOString(),
  };
}

async function* readLater(load: () => Promise<Interval[]>): AsyncGenerator<Interval, void> {
  yield* await load();
}
