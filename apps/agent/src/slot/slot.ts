import { Worker } from 'node:worker_threads';
import { ShardControl, type TransportWish } from '@broadside/engine/host';
import type { Fatal, ProbeResult, Shard, ShardResult } from '@broadside/shared';
import type { Logger } from 'pino';
import { within } from '../within.js';
import { IntervalSum } from './interval-sum.js';
import type {
  IntervalFrame,
  SlotMessage,
  TargetPolicies,
  ThreadMessage,
  ThreadSettings,
} from './thread-message.js';

/** What happens to a shard in its slot, in this order; each of the first two at most once. */
export interface SlotEvents {
  onReady(): void;
  onProbed(result: ProbeResult): void;
  onInterval(frame: IntervalFrame): void;
}

/** How a shard left its slot. It always leaves: an engine that dies gives a result with a fatal error. */
export type SlotEnd =
  | { readonly kind: 'ended'; readonly result: ShardResult }
  /** It could not be prepared; nothing was sent. */
  | { readonly kind: 'refused'; readonly fatal: Fatal };

/** A shard in a slot. Orders that make no sense any more are ignored by the engine. */
export interface SlotRun {
  probe(): void;
  /** Both instants on this process's clock. @param fromUs when the load begins; absent: with `startAtUs`. */
  start(startAtUs: number, referenceBytes?: number, fromUs?: number): void;
  /** @param stopAtUs on this process's clock; absent: now. */
  stop(stopAtUs?: number): void;
  /** Never rejects. */
  readonly ended: Promise<SlotEnd>;
}

export interface SlotOptions {
  readonly index: number;
  /** The script of the engine thread (engine-thread.js). */
  readonly threadEntry: URL;
  readonly transport: TransportWish;
  readonly logger: Logger;
  /** How long a thread may take to end its shard after a stop; then it is terminated. */
  readonly stopTimeoutMs: number;
}

/** A thread that is held in a system call does not end when it is terminated; nobody waits longer for it. */
const TERMINATE_TIMEOUT_MS = 1_000;
/**
 * How long a thread that is to be terminated may go on loading. The library behind the fast transports cannot
 * be interrupted while it is loaded into a thread: it takes the whole process down.
 */
const LOAD_TIMEOUT_MS = 3_000;

interface CurrentRun {
  readonly shard: Shard;
  readonly control: ShardControl;
  readonly events: SlotEvents;
  readonly sum: IntervalSum;
  readonly leave: (end: SlotEnd) => void;
  stopTimer: NodeJS.Timeout | undefined;
  /** Why the thread is being taken down, when it is us who do it. */
  cause: string | undefined;
}

/** Room for one shard at a time, and the thread that runs it. The thread stays for the next shard. */
export class Slot {
  readonly #options: SlotOptions;
  #thread: Worker | undefined;
  /** Resolves when the current thread has loaded everything, or has died. */
  #isUp: Promise<void> = Promise.resolve();
  #current: CurrentRun | undefined;
  #isClosed = false;

  constructor(options: SlotOptions) {
    this.#options = options;
  }

  get isFree(): boolean {
    return this.#current === undefined && !this.#isClosed;
  }

  /** Starts the thread, so that the first shard need not wait for it. Resolves when it is up, or has died. */
  warmUp(): Promise<void> {
    this.#spawn();
    return this.#isUp;
  }

  /** @throws Error when the slot is taken. */
  run(shard: Shard, events: SlotEvents, policies: TargetPolicies): SlotRun {
    if (!this.isFree) throw new Error('the slot is taken');
    const control = new ShardControl();
    const ended = new Promise<SlotEnd>((leave) => {
      const sum = new IntervalSum();
      this.#current = { shard, control, events, sum, leave, stopTimer: undefined, cause: undefined };
    });
    const run = this.#current;
    this.#tell({ kind: 'run', shard, policies, control: control.memory });
    const order = (write: () => void): void => {
      // An order for a shard that has left must not wake the next one's engine.
      if (run === undefined || run !== this.#current) return;
      write();
      this.#tell({ kind: 'wake' });
    };
    return {
      probe: () => order(() => control.probe()),
      start: (startAtUs, referenceBytes, fromUs) =>
        order(() => control.start(startAtUs, referenceBytes, fromUs)),
      stop: (stopAtUs) => order(() => this.#stop(control, stopAtUs)),
      ended,
    };
  }

  /** Ends the thread; a shard that is still in it leaves with a fatal error. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#current !== undefined) this.#current.cause ??= 'the agent was closed';
    if (this.#thread !== undefined) await this.#terminate(this.#thread);
  }

  /** Ends a thread, or lets go of it when it does not end. */
  async #terminate(thread: Worker): Promise<void> {
    if (thread === this.#thread) await within(LOAD_TIMEOUT_MS, this.#isUp);
    if (await within(TERMINATE_TIMEOUT_MS, thread.terminate())) return;
    thread.unref();
    this.#lose(thread, 'its thread does not end');
  }

  #stop(control: ShardControl, stopAtUs: number | undefined): void {
    control.stop(stopAtUs);
    const run = this.#current;
    if (run === undefined || run.stopTimer !== undefined) return;
    const { stopTimeoutMs } = this.#options;
    run.stopTimer = setTimeout(() => {
      run.cause = `the engine did not end within ${stopTimeoutMs} ms after the stop`;
      if (this.#thread !== undefined) void this.#terminate(this.#thread);
    }, stopTimeoutMs);
  }

  #tell(message: SlotMessage): void {
    this.#spawn().postMessage(message);
  }

  /** The thread, started if there is none. */
  #spawn(): Worker {
    if (this.#thread !== undefined) return this.#thread;
    const { index, threadEntry, transport } = this.#options;
    const settings: ThreadSettings = { transport };
    const thread = new Worker(threadEntry, { name: `slot ${index}`, workerData: settings });
    this.#thread = thread;
    this.#isUp = new Promise((resolve) => {
      thread.once('message', () => resolve());
      thread.once('exit', () => resolve());
    });
    let reason = 'its thread ended by itself';
    thread.on('message', (message: ThreadMessage) => {
      if (message.kind === 'failed') {
        reason = message.message;
        void this.#terminate(thread);
      } else if (thread === this.#thread) this.#hear(message);
    });
    thread.on('error', (error: unknown) => {
      reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    });
    thread.on('messageerror', (error) => {
      reason = error.message;
      void this.#terminate(thread);
    });
    thread.once('exit', () => this.#lose(thread, reason));
    return thread;
  }

  /** The thread is gone, or as good as gone. */
  #lose(thread: Worker, reason: string): void {
    if (this.#thread !== thread) return;
    this.#thread = undefined;
    const run = this.#current;
    if (this.#isClosed && run === undefined) return;
    const { index, logger } = this.#options;
    logger.error({ slot: index, reason: run?.cause ?? reason }, 'an engine thread ended unexpectedly');
    if (run === undefined) return;
    this.#leaveAfterCrash(run, run.cause ?? reason);
    // The next shard finds a warm thread again; one that dies idle is only replaced when it is needed.
    if (!this.#isClosed) this.#spawn();
  }

  #hear(message: Exclude<ThreadMessage, { kind: 'failed' }>): void {
    if (message.kind === 'up') {
      if (message.note !== undefined) this.#options.logger.info({ slot: this.#options.index }, message.note);
      return;
    }
    const run = this.#current;
    if (run === undefined) return;
    switch (message.kind) {
      case 'ready':
        run.events.onReady();
        return;
      case 'probed':
        run.events.onProbed(message.result);
        return;
      case 'interval':
        run.sum.add(message.frame);
        run.events.onInterval(message.frame);
        return;
      case 'ended':
      case 'refused':
        this.#leave(run, message);
    }
  }

  #leaveAfterCrash(run: CurrentRun, reason: string): void {
    const { frame, totals } = run.sum.close(run.shard);
    if (frame !== undefined) run.events.onInterval(frame);
    const { runId, shardIndex, attempt } = run.shard;
    const message = `the engine of the shard died: ${reason.split('\n', 1)[0] ?? ''}`.slice(0, 1_000);
    this.#leave(run, {
      kind: 'ended',
      result: {
        runId,
        shardIndex,
        attempt,
        totals: Buffer.from(totals).toString('base64'),
        addresses: [],
        startSkewUs: 0,
        transport: 'unknown',
        fatal: { code: 'ENGINE', message },
      },
    });
  }

  #leave(run: CurrentRun, end: SlotEnd): void {
    clearTimeout(run.stopTimer);
    this.#current = undefined;
    run.leave(end);
  }
}
