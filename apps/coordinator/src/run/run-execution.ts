/**
 * One run from the moment its slots are reserved until its report is stored. Everything that happens comes in
 * as a method call, in any order; the pure parts (barrier, orders, books, states) decide, and this acts.
 *
 *   begin ─► ready … ready ─► [probe ─► probed] ─► start ─► intervals … ─► endings ─► close
 *      stop, agentLost, refused, a deadline ──────────────────────────────────▲
 *
 * Long because every event of a run meets the same state, which would have to be shared if it were split.
 */
import {
  type Fatal,
  type Interval,
  isFinalState,
  type ProbeResult,
  type RunState,
  type ShardAttempt,
} from '@broadside/shared';
import { queueReason } from '../queue/queue-reason.js';
import type { ShardEnding, ShardEndings } from '../shard/shard-queue.js';
import { closesInMs } from './close-deadline.js';
import type { RunChange } from './run.repository.js';
import { judgeRun } from './run-closing.js';
import { RunLosses } from './run-losses.js';
import type { RunNotes } from './run-notes.js';
import { createRunParts, isOfStart, isOver, type RunControl, type RunParts } from './run-parts.js';
import { restoreParts } from './run-restore.js';
import type { RunHead, RunServices, StateMessage } from './run-services.js';
import { DoneWith } from './run-shards.js';
import { RunStart, stopInstantOf } from './run-start.js';
import { takeEnding } from './shard-ending.js';
import type { ShardProgress } from './shard-progress.js';

/** What a shard that failed may still deliver of the time before. */
const FAILED_SHARD_GRACE_MS = 2_000;
/** How long a rest waits for a slot when everything else of the run has ended. */
const REST_GRACE_MS = 10_000;
/** Results that are read before anything else is heard. */
const ENDINGS_AT_A_TIME = 200;
/** How long a last interval that may give something back is waited for. */
const LAST_INTERVAL_MS = 15_000;

export class RunExecution {
  readonly head: RunHead;
  /** Resolves when the run is in a final state and stored. Never rejects. */
  readonly ended: Promise<void>;
  readonly #parts: RunParts;
  readonly #start: RunStart;
  readonly #losses: RunLosses;
  #resolveEnded: () => void = () => undefined;
  #isClosing = false;
  /** From `restore` to `goOn`: what an earlier coordinator had not come to is still to be looked at. */
  #isBeingRestored = false;
  /** When an interval was taken last. */
  #heardAtMs = 0;
  #hasWaitedForLast = false;
  /** Attempts whose load has ended, and those that cannot give anything of it back any more. */
  readonly #load: DoneWith;
  readonly #giving: DoneWith;

  /** @param shards the first attempts; of a run that is restored all attempts. */
  constructor(services: RunServices, head: RunHead, shards: readonly ShardProgress[]) {
    this.head = head;
    const control = this.#control();
    this.#parts = createRunParts(services, head, shards, control);
    this.#start = new RunStart(this.#parts, control);
    this.#losses = new RunLosses(this.#parts, control, this.#start);
    const { books } = this.#parts;
    this.#load = new DoneWith((each) => each.hasEnded || books.isDelivered(each));
    // Asked only of those whose load has ended: from then on it can only become true.
    this.#giving = new DoneWith((each) => !this.#losses.mayGiveBack(each));
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
  }

  get state(): RunState {
    return this.#parts.journal.state;
  }

  get stateMessage(): StateMessage {
    return this.#parts.journal.stateMessage;
  }

  /** The end of the run with its report, where the store would not take it. */
  get unstoredEnd(): RunChange | undefined {
    return this.#parts.journal.unstoredEnd;
  }

  /** All attempts so far; each holds a slot of its agent until the run has ended. */
  get attempts(): readonly ShardProgress[] {
    return this.#parts.shards.all;
  }

  /** Stores the shards, then hands them to the queue. */
  async begin(): Promise<void> {
    const { shards, journal, orders, groups, services } = this.#parts;
    const first = shards.current;
    journal.move('preparing');
    this.#saveNotes();
    this.#start.awaitReady();
    let isStored = false;
    try {
      await journal.insertShards(first);
      isStored = true;
      // Stopped while it was being stored: nothing has gone out, so nothing needs to come back.
      if (!orders.isStopped) await groups.enqueue(first);
    } catch (error) {
      services.log.error({ err: error, run: this.head.id }, 'a run could not be handed to the queue');
      const what = isStored ? 'handed to the queue' : 'stored';
      // Stopped and not failed: it is the cluster that could not, and the exit code of that says so.
      this.stop(`the shards could not be ${what}: ${queueReason(error)}`);
    }
    const [any] = first;
    if (any !== undefined && !groups.has(any)) this.shardsEnded(0, new Map());
    else if (orders.isStopped) this.#withdraw();
    for (const progress of first) if (progress.isFenced) await groups.release(progress);
  }

  /**
   * Goes on with what an earlier coordinator had begun. What happened meanwhile comes as it always does: from
   * agents that are back, and from the queue.
   */
  async restore(state: RunState, notes: RunNotes): Promise<void> {
    const { services, journal } = this.#parts;
    this.#isBeingRestored = true;
    await restoreParts(this.#parts, state, notes, (group, endings) => this.shardsEnded(group, endings));
    if (state === 'preparing' && notes.startAtUs !== undefined) {
      // The instant was stored, and perhaps told; the state was not.
      journal.move('running', { startedAt: new Date(notes.startAtUs / 1_000) });
      this.#start.armLoadTimer(1);
    } else if (state === 'preparing') this.#start.awaitReady();
    else if (state === 'running') {
      const sinceUs = services.clock.epochUs() - (notes.startAtUs ?? services.clock.epochUs());
      this.#start.armLoadTimer(sinceUs / 1_000);
    } else this.#closeWhenSilent();
  }

  /** Looks whether what was restored has ended already; to be called when the queue is listened to. */
  goOn(): void {
    this.#isBeingRestored = false;
    this.#losses.restored();
    this.#parts.reissue.useFreeSlots();
    this.#checkEnd();
  }

  /** True when the attempt is one of this run, lives on this agent and is not fenced. */
  owns(agentId: string, attempt: ShardAttempt): boolean {
    return this.#parts.shards.find(agentId, attempt) !== undefined;
  }

  /** @param warnings what the agent finds doubtful about its machine. */
  ready(agentId: string, attempt: ShardAttempt, warnings: readonly string[] = []): void {
    this.#start.ready(agentId, attempt, warnings);
  }

  refused(agentId: string, attempt: ShardAttempt, fatal: Fatal): void {
    this.#losses.refused(agentId, attempt, fatal);
  }

  probed(agentId: string, attempt: ShardAttempt, result: ProbeResult): void {
    this.#start.probed(agentId, attempt, result);
  }

  /** @returns false when the frame is not of a live attempt on this agent: it is to be fenced. */
  interval(agentId: string, interval: Interval, frame: Uint8Array): boolean {
    const { shards, books, orders, reissue } = this.#parts;
    const progress = shards.find(agentId, interval);
    if (progress === undefined || this.#isClosing) return false;
    if (!progress.hasBegun) {
      if (this.#losses.leftBeforeStart(progress)) return false;
      // A first attempt may end before the start, when it is stopped; a later one is fenced then.
      if (progress.shard.attempt > 1) return false;
    }
    if (!books.take(progress, interval, frame)) return true;
    this.#heardAtMs = this.#parts.services.clock.nowMs();
    if (!orders.isStopped && interval.isLast) this.#losses.checkLast(progress, interval);
    if (interval.isLast) reissue.useFreeSlots();
    this.#checkEnd();
    return true;
  }

  /** All shards of the group have ended in the queue, in whatever way. */
  shardsEnded(group: number, endings: ShardEndings): void {
    const { groups, shards } = this.#parts;
    if (groups.tell(group)) this.#takeEndings(shards.inGroup(group), endings);
  }

  /** In pieces: totals of thousands of shards take seconds to read, and nobody would be heard meanwhile. */
  #takeEndings(waiting: readonly ShardProgress[], endings: ShardEndings): void {
    const { reissue, timers } = this.#parts;
    for (const progress of waiting.slice(0, ENDINGS_AT_A_TIME)) this.#shardEnded(progress, endings);
    const rest = waiting.slice(ENDINGS_AT_A_TIME);
    const [next] = rest;
    if (next !== undefined) {
      timers.arm(`endings ${next.group}`, 0, () => this.#takeEndings(rest, endings));
      return;
    }
    reissue.useFreeSlots();
    this.#checkEnd();
  }

  #shardEnded(progress: ShardProgress, endings: ShardEndings): void {
    const { books, reissue } = this.#parts;
    if (progress.hasEnded) return;
    const ending = endings.get(progress.key);
    if (!progress.hasBegun && !isOfStart(progress)) reissue.giveBack(progress, 'it ended before it began');
    else if (ending === undefined && (progress.hasBegun || books.isDelivered(progress))) {
      this.#losses.endWithoutResult(progress);
    } else this.#takeEnding(progress, ending);
  }

  /** The agent said hello again, with the attempts that are alive on it. */
  agentBack(agentId: string, alive: ReadonlySet<string>): void {
    this.#losses.agentBack(agentId, alive);
  }

  agentLost(agentId: string): void {
    this.#losses.agentLost(agentId);
  }

  agentLeaves(agentId: string): void {
    this.#losses.agentLeaves(agentId);
  }

  /** The agent of a fenced attempt says what it had sent in all. */
  abandoned(agentId: string, attempt: ShardAttempt, sent: number): void {
    if (!this.#isClosing) this.#losses.abandoned(agentId, attempt, sent);
  }

  /** Slots may have become free. */
  useFreeSlots(): void {
    if (!this.#isClosing) this.#parts.reissue.useFreeSlots();
  }

  /** Puts something that the coordinator has met into the report, and tells it to watchers. */
  warn(warning: string): void {
    if (this.#isClosing) return;
    const { agents, services } = this.#parts;
    agents.warn('coordinator', [warning]);
    services.events.emit('live-message', this.stateMessage);
    this.#saveNotes();
  }

  /** The queue's Redis has gone, or is back, perhaps without what it held. */
  queueChanged(where: string, isThere: boolean): void {
    const redis = `the queue's Redis at ${where}`;
    if (!isThere) this.warn(`lost ${redis} for a time: what ran went on, the rest waited`);
    else {
      void this.#parts.groups.areThere().then((areThere) => {
        if (!areThere)
          this.warn(`${redis} came back without this run: its agents' own totals cannot come any more`);
      });
    }
  }

  /** Ends the load; the run closes with what was done. */
  stop(reason: string): void {
    if (isFinalState(this.state) || this.#isClosing) return;
    this.#parts.reasons.stopReason ??= reason;
    this.#stopShards(reason);
  }

  /** Closes now, with what there is: the coordinator leaves. */
  giveUp(): void {
    if (this.#isClosing) return;
    this.#beginClosing();
    this.#close();
  }

  /** This run as its parts see it; the parts are not there yet when it is made. */
  #control(): RunControl {
    const isClosing = (): boolean => this.#isClosing;
    return {
      stop: (reason) => this.stop(reason),
      fail: (reason) => this.#fail(reason),
      stopShards: (reason) => this.#stopShards(reason),
      sayOrder: (progress) => this.#sayOrder(progress),
      saveNotes: (pending) => this.#saveNotes(pending),
      endLoad: () => {
        this.#parts.reissue.dropAll('the time of the run is over');
        this.#beginClosing();
      },
      checkEnd: () => this.#checkEnd(),
      get isClosing() {
        return isClosing();
      },
    };
  }

  #takeEnding(progress: ShardProgress, ending: ShardEnding | undefined): void {
    const { orders, books, journal } = this.#parts;
    const wasNeverHeld = !progress.isReady && !orders.isStopped && ending?.kind === 'failed';
    takeEnding(progress, ending, orders.isStopped || wasNeverHeld);
    // As when its agent says that it cannot; its word may come later than the queue's.
    if (wasNeverHeld) this.#fail(`${progress.name}: ${ending.reason}`);
    if (progress.didNothing || progress.failure !== undefined || progress.totals?.intervals === 0) {
      books.end(progress);
    }
    journal.saveShard(progress);
  }

  /** @param pending a start instant that is not told yet. */
  #saveNotes(pending: { readonly startAtUs?: number } = {}): void {
    if (this.#isClosing) return;
    const { journal, orders, reasons, books, agents, reissue } = this.#parts;
    const { stopReason, failure, probeFatal } = reasons;
    journal.saveNotes({
      ...orders.notes,
      ...pending,
      ...(stopReason === undefined ? {} : { stopReason }),
      ...(failure === undefined ? {} : { failure }),
      ...(probeFatal === undefined ? {} : { probeFatal }),
      problems: [...books.problems],
      warnings: agents.warnings,
      agents: agents.facts(),
      losses: reissue.rests.losses,
    });
  }

  #sayOrder(progress: ShardProgress): void {
    const { orders, services } = this.#parts;
    const order = orders.orderFor(progress);
    if (order !== undefined) services.registry.send(progress.agentId, order);
  }

  #stopShards(reason: string): void {
    const { orders, timers, reissue, shards } = this.#parts;
    if (orders.isStopped) return;
    orders.stop(reason, stopInstantOf(this.#parts));
    timers.disarm('ready', 'probe');
    reissue.dropAll('the run was stopped');
    for (const progress of shards.all) if (!progress.hasEnded) this.#sayOrder(progress);
    this.#saveNotes();
    this.#beginClosing();
    this.#withdraw();
  }

  /** Takes back the shards that no slot has claimed; the run does not wait for them. */
  #withdraw(): void {
    const { shards, groups, books, journal } = this.#parts;
    for (const progress of shards.all) {
      if (progress.isReady || progress.hasEnded) continue;
      void groups.withdraw(progress).then((isBack) => {
        if (!isBack || progress.isReady || progress.hasEnded) return;
        progress.didNothing = true;
        books.end(progress);
        journal.saveShard(progress);
        this.#checkEnd();
      });
    }
  }

  #fail(reason: string): void {
    this.#parts.reasons.failure ??= reason;
    this.#stopShards(reason);
  }

  /** Enters `closing` when the load has ended, and closes when nothing is missing. */
  #checkEnd(): void {
    const { shards, books, timers } = this.#parts;
    if (this.#isClosing || this.#isBeingRestored) return;
    if (!this.#load.areAll(shards.all)) return;
    if (this.#waitsForRest() || this.#waitsForLast()) return;
    timers.disarm('last');
    this.#beginClosing();
    if (!books.isSettled) return;
    const open = shards.all.filter((progress) => !isOver(this.#parts, progress));
    if (open.length === 0) this.#close();
    else if (open.every((progress) => progress.failure !== undefined)) {
      timers.arm('close', FAILED_SHARD_GRACE_MS, () => this.#close());
    }
  }

  /** Everything but a rest has ended: a slot that becomes free soon, or an agent that joins, may still do it. */
  #waitsForRest(): boolean {
    const { reissue, timers } = this.#parts;
    if (!reissue.rests.isWaiting) return false;
    timers.armOnce('rest', REST_GRACE_MS, () => {
      reissue.dropAll('no slot became free');
      this.#checkEnd();
    });
    return true;
  }

  #waitsForLast(): boolean {
    const { shards, timers } = this.#parts;
    if (this.#hasWaitedForLast || this.#giving.areAll(shards.all)) return false;
    timers.armOnce('last', LAST_INTERVAL_MS, () => {
      this.#hasWaitedForLast = true;
      this.#checkEnd();
    });
    return true;
  }

  #beginClosing(): void {
    if (this.state === 'closing' || isFinalState(this.state)) return;
    const { timers, journal } = this.#parts;
    timers.disarm('load');
    journal.move('closing');
    this.#closeWhenSilent();
  }

  #closeWhenSilent(): void {
    const { timers, services } = this.#parts;
    const beganAtMs = services.clock.nowMs();
    const look = (): void => {
      const leftMs = closesInMs({ beganAtMs, heardAtMs: this.#heardAtMs }, services.clock.nowMs());
      if (leftMs > 0) timers.arm('close', leftMs, look);
      else this.#close();
    };
    look();
  }

  #close(): void {
    if (this.#isClosing) return;
    const { reissue, timers, services } = this.#parts;
    reissue.rests.dropAll();
    this.#isClosing = true;
    timers.disarmAll();
    this.#finish()
      .catch((error: unknown) => {
        services.log.error({ err: error, run: this.head.id }, 'a run could not be closed');
      })
      .finally(() => this.#resolveEnded());
  }

  async #finish(): Promise<void> {
    const { shards, groups, journal, reasons } = this.#parts;
    for (const progress of shards.all) if (!isOver(this.#parts, progress)) this.#cutOff(progress);
    await journal.settled();
    const change = await judgeRun(this.#parts);
    reasons.failure = change.reason;
    // Told after the report: a queue that is away must not hold it up.
    await journal.end(change);
    await groups.abandon();
  }

  /** It may still be sending; what comes now is too late to count. */
  #cutOff(progress: ShardProgress): void {
    const { services, books, journal } = this.#parts;
    progress.failure ??= 'it did not end in time';
    services.registry.send(progress.agentId, { kind: 'fenced', shard: progress.attempt });
    books.end(progress);
    journal.saveShard(progress);
  }
}
