/** The runs that wait for slots, oldest first: their places, why each waits, and for how long at most. */
import { formatDurationMs, LIMITS } from '@broadside/shared';
import type { Timers } from '../clock.js';
import { type AgentRoom, decideAdmission, type Waiting } from './admission.js';
import { NamedTimers } from './named-timers.js';
import type { RunHead } from './run-services.js';

export interface RunQueueOptions {
  readonly timers: Timers;
  /** Of the wall clock, because a run may have been waiting since before this process. */
  readonly nowMs: () => number;
  /** The place of a run, or why it waits, has changed. */
  readonly onChange: (runId: string, waiting: Waiting) => void;
  /** Why a run that has its slots must wait, given what starts before it; undefined: it need not. */
  readonly whyHeld: (run: RunHead, starting: readonly RunHead[]) => string | undefined;
  /** The time is up; the run is still in the queue. */
  readonly onTimeUp: (run: RunHead, reason: string) => void;
}

interface Entry {
  readonly run: RunHead;
  waiting: Waiting;
  isStored: boolean;
}

export interface AdmittedRun {
  readonly run: RunHead;
  /** The agent of each shard. */
  readonly agentIds: readonly string[];
}

export class RunQueue {
  readonly #options: RunQueueOptions;
  readonly #timers: NamedTimers;
  /** In the order of coming. */
  readonly #entries = new Map<string, Entry>();

  constructor(options: RunQueueOptions) {
    this.#options = options;
    this.#timers = new NamedTimers(options.timers);
  }

  get size(): number {
    return this.#entries.size;
  }

  get runs(): RunHead[] {
    return [...this.#entries.values()].map(({ run }) => run);
  }

  /** @param isStored false: it has its place, and starts after `markStored` at the earliest. */
  add(run: RunHead, isStored: boolean): void {
    const waiting = { position: this.size + 1, reason: 'waits for slots' };
    this.#entries.set(run.id, { run, waiting, isStored });
    const { maxWaitMs = LIMITS.defaultWaitMs } = run.plan;
    const leftMs = run.createdAt.getTime() + maxWaitMs - this.#options.nowMs();
    this.#timers.arm(run.id, Math.max(leftMs, 0), () => {
      const entry = this.#entries.get(run.id);
      if (entry === undefined) return;
      const reason = `got no slots within ${formatDurationMs(maxWaitMs)}: ${entry.waiting.reason}`;
      this.#options.onTimeUp(run, reason);
    });
  }

  markStored(runId: string): void {
    const entry = this.#entries.get(runId);
    if (entry !== undefined) entry.isStored = true;
  }

  remove(runId: string): RunHead | undefined {
    const entry = this.#entries.get(runId);
    this.#entries.delete(runId);
    this.#timers.disarm(runId);
    return entry?.run;
  }

  /** Place and reason of a run; undefined when it does not wait. */
  find(runId: string): Waiting | undefined {
    return this.#entries.get(runId)?.waiting;
  }

  /** Takes out the runs that can start now, oldest first, and notes why the others wait. */
  admit(rooms: readonly AgentRoom[]): AdmittedRun[] {
    const wishes = [...this.#entries.values()].map(({ run, isStored }) => {
      const { slots, connections, on } = run.plan;
      return { runId: run.id, slots, connections, on, canStart: isStored };
    });
    const runsOf = (ids: readonly string[]): RunHead[] =>
      ids.flatMap((id) => this.#entries.get(id)?.run ?? []);
    const { starts, waiting } = decideAdmission(wishes, rooms, (runId, starting) => {
      const [run] = runsOf([runId]);
      return run === undefined ? undefined : this.#options.whyHeld(run, runsOf(starting));
    });
    const admitted = starts.flatMap(({ runId, agentIds }) => {
      const run = this.remove(runId);
      return run === undefined ? [] : [{ run, agentIds }];
    });
    for (const [runId, now] of waiting) this.#note(runId, now);
    return admitted;
  }

  #note(runId: string, now: Waiting): void {
    const entry = this.#entries.get(runId);
    if (entry === undefined) return;
    const { position, reason } = entry.waiting;
    if (position === now.position && reason === now.reason) return;
    entry.waiting = now;
    this.#options.onChange(runId, now);
  }
}
