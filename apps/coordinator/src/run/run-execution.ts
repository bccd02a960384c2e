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
  LIMITS,
  type Loss,
  loadDurationMs,
  type ProbeResult,
  type RunState,
  type ShardAttempt,
} from '@broadside/shared';
import type { ShardEnding, ShardEndings } from '../shard/shard-queue.js';
import { StartBarrier, startInstantUs } from '../shard/start-barrier.js';
import { NamedTimers } from './named-timers.js';
import { RunAgents } from './run-agents.js';
import { RunBooks } from './run-books.js';
import { judgeRun } from './run-closing.js';
import { RunGroups } from './run-groups.js';
import { RunJournal } from './run-journal.js';
import type { RunNotes } from './run-notes.js';
import { RunOrders } from './run-orders.js';
import { RunReissue } from './run-reissue.js';
import type { RunHead, RunServices, StateMessage } from './run-services.js';
import { RunShards } from './run-shards.js';
import {
  endedEarly,
  hasFatalEnd,
  isSocketError,
  isUnfinished,
  returnedBy,
  takeEnding,
} from './shard-ending.js';
import { namesOf, type ShardProgress } from './shard-progress.js';

/** The agent's own timeout ends the probe; this is for an agent that says nothing. */
const PROBE_MARGIN_MS = 10_000;
/** What a shard that failed may still deliver of the time before. */
const FAILED_SHARD_GRACE_MS = 2_000;
/** How long a rest waits for a slot when everything else of the run has ended. */
const REST_GRACE_MS = 10_000;
/** Agents need this long at most to come back to a restarted coordinator, and to say what they have. */
const RETURN_MS = 15_000;
/** How often a start instant that could not be stored in time is named again. */
const MAX_START_TRIES = 6;

export class RunExecution {
  readonly head: RunHead;
  /** Resolves when the run is in a final state and stored. Never rejects. */
  readonly ended: Promise<void>;
  readonly #services: RunServices;
  readonly #shards: RunShards;
  readonly #agents: RunAgents;
  readonly #barrier: StartBarrier;
  readonly #orders: RunOrders;
  readonly #books: RunBooks;
  readonly #groups: RunGroups;
  readonly #journal: RunJournal;
  readonly #timers: NamedTimers;
  readonly #reissue: RunReissue;
  #resolveEnded: () => void = () => undefined;
  #stopReason: string | undefined;
  #failure: string | undefined;
  #probeFatal: Fatal | undefined;
  #isClosing = false;
  /** For a last interval that may give something back. */
  #hasWaitedLong = false;
  /** Agents that end their attempts themselves, and give back what is left of them. */
  readonly #leaving = new Set<string>();

  /** @param shards the first attempts; of a run that is restored all attempts. */
  constructor(services: RunServices, head: RunHead, shards: readonly ShardProgress[]) {
    this.#services = services;
    this.head = head;
    this.#shards = new RunShards(shards);
    this.#agents = new RunAgents(services.registry, shards);
    this.#groups = new RunGroups(head.id, services);
    this.#timers = new NamedTimers(services.timers);
    this.#journal = new RunJournal({ runId: head.id, services, describe: () => this.#describe() });
    this.#barrier = new StartBarrier({ shardCount: this.#shards.count, wantsProbe: head.plan.probe });
    this.#orders = new RunOrders(this.#barrier);
    const durationMs = loadDurationMs(head.plan);
    this.#books = new RunBooks({
      runId: head.id,
      shardCount: this.#shards.count,
      expectedSeconds: durationMs === undefined ? undefined : Math.ceil(durationMs / LIMITS.intervalMs),
      write: (frame) => services.writer.write(frame),
      send: (agentId, message) => services.registry.send(agentId, message),
      publish: (message) => services.events.emit('live-message', message),
      onSettled: () => this.#checkEnd(),
    });
    this.#reissue = new RunReissue({
      services,
      shards: this.#shards,
      groups: this.#groups,
      orders: this.#orders,
      books: this.#books,
      agents: this.#agents,
      journal: this.#journal,
      timers: this.#timers,
      onBegun: (progress) => this.#sayOrder(progress),
      isOffSlot: (progress) => progress.hasEnded || this.#books.isDelivered(progress),
      onChange: () => {
        this.#saveNotes();
        this.#checkEnd();
      },
    });
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
  }

  get state(): RunState {
    return this.#journal.state;
  }

  get stateMessage(): StateMessage {
    return this.#journal.stateMessage;
  }

  /** All attempts so far; each holds a slot of its agent until the run has ended. */
  get attempts(): readonly ShardProgress[] {
    return this.#shards.all;
  }

  /** Stores the shards, then hands them to the queue. */
  async begin(): Promise<void> {
    const first = this.#shards.current;
    this.#journal.move('preparing');
    this.#saveNotes();
    this.#timers.arm('ready', LIMITS.readyTimeoutMs, () => this.#giveUpWaiting());
    try {
      await this.#journal.insertShards(first);
      // Stopped while it was being stored: nothing has gone out, so nothing needs to come back.
      if (!this.#orders.isStopped) await this.#groups.enqueue(first);
    } catch (error) {
      this.#services.log.error({ err: error, run: this.head.id }, 'a run could not be handed to the queue');
      this.#fail('the shards could not be handed to the queue');
    }
    const [any] = first;
    if (any !== undefined && !this.#groups.has(any)) this.shardsEnded(0, new Map());
    else if (this.#orders.isStopped) this.#withdraw();
    for (const progress of first) if (progress.isFenced) await this.#groups.release(progress);
  }

  /**
   * Goes on with what an earlier coordinator had begun: its notes, its attempts as they were stored, and their
   * intervals. What happened meanwhile comes as it always does: from agents that are back, and from the queue.
   */
  async restore(state: RunState, notes: RunNotes): Promise<void> {
    const { intervals, queue, clock } = this.#services;
    this.#journal.restore(state);
    this.#agents.restore(notes.agents, notes.warnings);
    this.#stopReason = notes.stopReason;
    this.#failure = notes.failure;
    this.#probeFatal = notes.probeFatal;
    for (const problem of notes.problems) this.#books.note(problem);
    this.#orders.restore(notes);
    if (notes.startAtUs !== undefined) this.#barrier.openNow();
    for (const progress of this.#shards.all) {
      this.#reissue.rests.noteAttempt(progress);
      if (progress.shard.attempt > 1 && progress.hasBegun) this.#books.open(progress);
      const stored = progress.didNothing ? [] : await intervals.load(progress.attempt);
      for (const interval of stored) this.#books.restore(progress, interval);
      if (progress.isFenced) this.#books.end(progress);
    }
    this.#reissue.restore(notes.losses);
    for (const group of new Set(this.#shards.all.map((progress) => progress.group))) {
      this.#groups.reopen(group, this.#shards.inGroup(group));
      const endings = await queue.endingsTold({ runId: this.head.id, group });
      if (endings !== undefined) this.shardsEnded(group, endings);
      // The earlier one may not have come to it.
      for (const each of this.#shards.inGroup(group)) if (each.isFenced) void this.#groups.release(each);
    }
    this.#books.passOverClosed();
    if (state === 'preparing' && notes.startAtUs !== undefined) {
      // The instant was stored, and perhaps told; the state was not.
      this.#journal.move('running', { startedAt: new Date(notes.startAtUs / 1_000) });
      this.#armLoadTimer(1);
    } else if (state === 'preparing') {
      this.#timers.arm('ready', LIMITS.readyTimeoutMs, () => this.#giveUpWaiting());
    } else if (state === 'running') {
      const sinceUs = clock.epochUs() - (notes.startAtUs ?? clock.epochUs());
      this.#armLoadTimer(sinceUs / 1_000);
    } else {
      this.#timers.arm('close', LIMITS.closeTimeoutMs, () => this.#close());
    }
  }

  /** Looks whether what was restored has ended already; to be called when the queue is listened to. */
  goOn(): void {
    this.#reissue.useFreeSlots();
    this.#checkEnd();
  }

  /** True when the attempt is one of this run, lives on this agent and is not fenced. */
  owns(agentId: string, attempt: ShardAttempt): boolean {
    return this.#shards.find(agentId, attempt) !== undefined;
  }

  /** @param warnings what the agent finds doubtful about its machine. */
  ready(agentId: string, attempt: ShardAttempt, warnings: readonly string[] = []): void {
    const progress = this.#shards.find(agentId, attempt);
    if (progress === undefined) return;
    this.#agents.warn(agentId, warnings);
    progress.isReady = true;
    this.#timers.disarm(`ready ${progress.key}`);
    if (this.#barrier.isOpen && !this.#orders.isStopped) {
      if (progress.hasBegun) this.#sayOrder(progress);
      else this.#reissue.begin(progress);
      return;
    }
    const step = this.#barrier.ready(attempt.shardIndex);
    if (this.#orders.isStopped || step === 'wait') this.#sayOrder(progress);
    else if (step === 'probe') this.#sendProbe();
    else this.#start();
  }

  /** The agent could not prepare the shard: without it the run is not the plan, unless another one can. */
  refused(agentId: string, attempt: ShardAttempt, fatal: Fatal): void {
    const progress = this.#shards.find(agentId, attempt);
    if (progress === undefined || progress.hasEnded) return;
    if (this.#barrier.isOpen) {
      this.#reissue.giveBack(progress, fatal.message);
      return;
    }
    progress.didNothing = true;
    this.#books.end(progress);
    if (fatal.code === 'AGENT_DRAINING') this.#loseBeforeStart(progress);
    else {
      progress.fatal = fatal;
      this.#fail(fatal.message);
    }
    this.#checkEnd();
  }

  probed(agentId: string, attempt: ShardAttempt, result: ProbeResult): void {
    if (this.#shards.find(agentId, attempt) === undefined || this.#barrier.isOpen) return;
    this.#timers.disarm('probe');
    if (this.#orders.isStopped) return;
    if (!result.ok && this.head.plan.onSocketError === 'stop' && isSocketError(result.fatal)) {
      this.#probeFatal = result.fatal;
      this.#fail(result.fatal.message);
      return;
    }
    if (result.ok && this.head.plan.checkLength) this.#orders.setReference(result.bodyBytes);
    if (this.#barrier.probed() === 'start') this.#start();
  }

  /** @returns false when the frame is not of a live attempt on this agent: it is to be fenced. */
  interval(agentId: string, interval: Interval, frame: Buffer): boolean {
    const progress = this.#shards.find(agentId, interval);
    if (progress === undefined || this.#isClosing) return false;
    // A first attempt may end before the start, when it is stopped; a later one is fenced then.
    if (!progress.hasBegun && progress.shard.attempt > 1) return false;
    if (!this.#books.take(progress, interval, frame)) return true;
    if (!this.#orders.isStopped && interval.isLast) this.#checkLast(progress, interval);
    if (interval.isLast) this.#reissue.useFreeSlots();
    this.#checkEnd();
    return true;
  }

  /** All shards of the group have ended in the queue, in whatever way. */
  shardsEnded(group: number, endings: ShardEndings): void {
    if (!this.#groups.tell(group)) return;
    for (const progress of this.#shards.inGroup(group)) {
      if (progress.hasEnded) continue;
      const ending = endings.get(progress.key);
      if (!progress.hasBegun && !this.#isOfStart(progress)) {
        this.#reissue.giveBack(progress, 'it ended before it began');
      } else if (ending === undefined && (progress.hasBegun || this.#books.isDelivered(progress))) {
        this.#endWithoutResult(progress);
      } else this.#takeEnding(progress, ending);
    }
    this.#reissue.useFreeSlots();
    this.#checkEnd();
  }

  /** The agent said hello again: what it still holds goes on, what it has forgotten is lost. */
  agentBack(agentId: string, alive: ReadonlySet<string>): void {
    for (const progress of this.#openShardsOf(agentId)) {
      if (alive.has(progress.key)) {
        this.#sayOrder(progress);
        this.#books.acknowledge(progress);
      } else if (progress.isReady && !this.#books.isDelivered(progress)) {
        this.#miss(progress, 'forgotten');
      }
    }
    this.#reissue.useFreeSlots();
    this.#checkEnd();
  }

  agentLost(agentId: string): void {
    for (const progress of this.#openShardsOf(agentId)) {
      // A shard that is delivered whole is not lost: its result is in the queue, or nobody is left to bring it.
      if (this.#books.isDelivered(progress)) void this.#groups.release(progress);
      else {
        this.#agents.markLost(agentId);
        this.#miss(progress, 'lost');
      }
    }
    this.#checkEnd();
  }

  /** The agent of a fenced attempt says what it had sent in all. */
  abandoned(agentId: string, attempt: ShardAttempt, sent: number): void {
    const progress = this.#shards.findFenced(agentId, attempt);
    if (progress === undefined || this.#isClosing) return;
    this.#reissue.rests.abandoned(progress, sent);
    this.#saveNotes();
  }

  /** The agent has said that it leaves. */
  agentLeaves(agentId: string): void {
    this.#leaving.add(agentId);
  }

  /** Slots may have become free. */
  useFreeSlots(): void {
    if (!this.#isClosing) this.#reissue.useFreeSlots();
  }

  /** Ends the load; the run closes with what was done. */
  stop(reason: string): void {
    if (isFinalState(this.state) || this.#isClosing) return;
    this.#stopReason ??= reason;
    this.#stopShards(reason);
  }

  /** Closes now, with what there is: the coordinator leaves. */
  giveUp(): void {
    if (this.#isClosing) return;
    this.#beginClosing();
    this.#close();
  }

  #describe(): Omit<StateMessage, 'kind' | 'runId' | 'state'> {
    const reason = this.#failure ?? this.#stopReason;
    const { startAtUs } = this.#orders;
    const { warnings } = this.#agents;
    return {
      ...(reason === undefined ? {} : { reason }),
      shards: this.#shards.count,
      agents: this.#agents.count,
      ...(warnings.length === 0 ? {} : { warnings }),
      ...(startAtUs === undefined ? {} : { startAtUs }),
    };
  }

  #takeEnding(progress: ShardProgress, ending: ShardEnding | undefined): void {
    const wasNeverHeld = !progress.isReady && !this.#orders.isStopped && ending?.kind === 'failed';
    takeEnding(progress, ending, this.#orders.isStopped || wasNeverHeld);
    // As when its agent says that it cannot; its word may come later than the queue's.
    if (wasNeverHeld) this.#fail(`${progress.name}: ${ending.reason}`);
    if (progress.didNothing || progress.failure !== undefined || progress.totals?.intervals === 0) {
      this.#books.end(progress);
    }
    this.#journal.saveShard(progress);
  }

  /** The queue was told not to wait for it, by us or by an earlier coordinator that stored no more than that. */
  #endWithoutResult(progress: ShardProgress): void {
    if (this.#books.isDelivered(progress)) {
      progress.isFenced = true;
      this.#journal.saveShard(progress);
    } else this.#lose(progress, 'lost');
  }

  /** One of those that begin together: a first attempt, or one that replaced it before the start. */
  #isOfStart({ startSlice, shard }: ShardProgress): boolean {
    return startSlice === 0 || shard.attempt === 1;
  }

  /** @param startAtUs of a start that is not told yet. */
  #saveNotes(pending: { readonly startAtUs?: number } = {}): void {
    if (this.#isClosing) return;
    this.#journal.saveNotes({
      ...this.#orders.notes,
      ...pending,
      ...(this.#stopReason === undefined ? {} : { stopReason: this.#stopReason }),
      ...(this.#failure === undefined ? {} : { failure: this.#failure }),
      ...(this.#probeFatal === undefined ? {} : { probeFatal: this.#probeFatal }),
      problems: [...this.#books.problems],
      warnings: this.#agents.warnings,
      agents: this.#agents.facts(),
      losses: this.#reissue.rests.losses,
    });
  }

  #openShardsOf(agentId: string): ShardProgress[] {
    return this.#shards.all.filter((progress) => progress.agentId === agentId && !this.#isOver(progress));
  }

  #sendProbe(): void {
    this.#timers.disarm('ready');
    const first = this.#shards.latest(0);
    if (first === undefined) return;
    this.#sayOrder(first);
    this.#timers.arm('probe', this.head.plan.timeoutMs + PROBE_MARGIN_MS, () => {
      this.#fail(`${first.name} gave no result of the probe`);
    });
  }

  /**
   * Names the start instant. Where a restarted coordinator could go on with the run it is stored before it is
   * told, or the run would be taken for one that never began; an instant that was stored too late is named again.
   */
  #start(tries = 0): void {
    const { clock, canResume } = this.#services;
    this.#timers.disarm('ready', 'probe');
    const uncertaintiesUs = this.#agents.facts().map((agent) => agent.clockUncertaintyUs);
    const delayMs = LIMITS.startDelayMs * 2 ** tries;
    const startAtUs = startInstantUs(clock.epochUs(), delayMs, uncertaintiesUs);
    if (!canResume) {
      this.#startAt(startAtUs);
      return;
    }
    this.#saveNotes({ startAtUs });
    void this.#journal.settled().then(() => {
      if (this.#orders.isStopped || this.#isClosing) return;
      const isLate = clock.epochUs() + (delayMs * 1_000) / 2 > startAtUs;
      if (isLate && tries < MAX_START_TRIES) this.#start(tries + 1);
      else this.#startAt(startAtUs);
    });
  }

  #startAt(startAtUs: number): void {
    this.#orders.start(startAtUs);
    for (const progress of this.#shards.current) {
      if (progress.isFenced) continue;
      progress.hasBegun = true;
      if (progress.shard.attempt > 1) this.#books.open(progress);
      this.#sayOrder(progress);
    }
    this.#journal.move('running', { startedAt: new Date(startAtUs / 1_000) });
    this.#saveNotes();
    this.#armLoadTimer(0);
    // Whoever was lost while the instant was being stored.
    this.#reissue.useFreeSlots();
  }

  /** For shards that never say that they have ended. @param sinceMs how long the load has been going on. */
  #armLoadTimer(sinceMs: number): void {
    const { plan } = this.head;
    const durationMs = loadDurationMs(plan);
    if (durationMs === undefined) return;
    const leftMs = LIMITS.startDelayMs + durationMs + plan.timeoutMs - sinceMs;
    this.#timers.arm('load', sinceMs > 0 ? Math.max(leftMs, RETURN_MS) : leftMs, () => {
      this.#reissue.dropAll('the time of the run is over');
      this.#beginClosing();
    });
  }

  #sayOrder(progress: ShardProgress): void {
    const order = this.#orders.orderFor(progress);
    if (order !== undefined) this.#services.registry.send(progress.agentId, order);
  }

  #stopShards(reason: string): void {
    if (this.#orders.isStopped) return;
    this.#orders.stop(reason);
    this.#timers.disarm('ready', 'probe');
    this.#reissue.dropAll('the run was stopped');
    for (const progress of this.#shards.all) if (!progress.hasEnded) this.#sayOrder(progress);
    this.#saveNotes();
    this.#beginClosing();
    this.#withdraw();
  }

  /** Takes back the shards that no slot has claimed; the run does not wait for them. */
  #withdraw(): void {
    for (const progress of this.#shards.all) {
      if (progress.isReady || progress.hasEnded) continue;
      void this.#groups.withdraw(progress).then((isBack) => {
        if (!isBack || progress.isReady || progress.hasEnded) return;
        progress.didNothing = true;
        this.#books.end(progress);
        this.#checkEnd();
      });
    }
  }

  #fail(reason: string): void {
    this.#failure ??= reason;
    this.#stopShards(reason);
  }

  #giveUpWaiting(): void {
    const named = namesOf(this.#shards.current.filter((progress) => !progress.isReady));
    this.#fail(`not ready within ${LIMITS.readyTimeoutMs / 1_000} s: ${named}`);
  }

  /** A shard has said its last although nobody stopped it: was it its budget, or something else? */
  #checkLast(progress: ShardProgress, interval: Interval): void {
    const { plan } = this.head;
    const hasStoppedItself = this.#leaving.has(progress.agentId) || endedEarly(interval);
    if (hasStoppedItself && isUnfinished(progress.shard, interval)) {
      this.#handBack(progress, interval);
    } else if (plan.onSocketError === 'stop' && hasFatalEnd(progress.shard, interval)) {
      this.#stopShards(`${progress.name} ended with a fatal error`);
    }
  }

  /** An agent that leaves in order has ended its attempt itself: what was left of it goes on elsewhere. */
  #handBack(progress: ShardProgress, last: Interval): void {
    const returned = returnedBy(last);
    this.#reissue.lose(progress, 'left', { isWanted: this.#wantsRests, returned });
    this.#afterLoss(progress);
  }

  get #wantsRests(): boolean {
    return (this.head.plan.onAgentLoss ?? 'rebalance') === 'rebalance' && !this.#orders.isStopped;
  }

  /** Intervals of it will not come. Where its result did, nothing of it is unknown but its place in time. */
  #miss(progress: ShardProgress, cause: Loss['cause']): void {
    if (progress.totals === undefined || !progress.hasBegun) {
      this.#lose(progress, cause);
      return;
    }
    const load = () => this.#services.intervals.load(progress.attempt);
    void this.#books
      .closeByTotals(progress, load)
      .then((closing) => {
        if (closing !== undefined && !this.#orders.isStopped) {
          this.#leaving.add(progress.agentId);
          this.#checkLast(progress, closing);
        }
      })
      .catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        this.#books.note(`${progress.name}: ${reason}`);
        progress.failure ??= reason;
      })
      .finally(() => {
        this.#books.end(progress);
        this.#reissue.useFreeSlots();
        this.#checkEnd();
      });
  }

  #lose(progress: ShardProgress, cause: Loss['cause']): void {
    if (!this.#isOfStart(progress) && !progress.hasBegun) {
      this.#reissue.giveBack(progress, `agent ${progress.agentName} was lost`);
      return;
    }
    progress.isFenced = true;
    this.#books.end(progress);
    this.#services.registry.send(progress.agentId, { kind: 'fenced', shard: progress.attempt });
    this.#journal.saveShard(progress);
    void this.#groups.release(progress);
    // Once the barrier is open the start is only being stored: the rest of the shard is all of it.
    if (this.#orders.startAtUs === undefined && !this.#barrier.isOpen) {
      this.#loseBeforeStart(progress);
      return;
    }
    this.#reissue.lose(progress, cause, { isWanted: this.#wantsRests });
    this.#afterLoss(progress);
  }

  #afterLoss(progress: ShardProgress): void {
    if (this.head.plan.onAgentLoss === 'abort') {
      this.stop(`agent ${progress.agentName} was lost, and the plan wants the run to end then`);
    }
    this.#saveNotes();
  }

  /** Nothing was sent, so another slot can do all of it. */
  #loseBeforeStart(progress: ShardProgress): void {
    this.#barrier.lost(progress.shard.shardIndex);
    this.#timers.disarm('probe');
    if (this.#wantsRests && this.#reissue.replace(progress)) {
      this.#timers.arm('ready', LIMITS.readyTimeoutMs, () => this.#giveUpWaiting());
      return;
    }
    this.#fail(`agent ${progress.agentName} was lost before the start`);
  }

  /** Nothing more is expected of the shard. */
  #isOver(progress: ShardProgress): boolean {
    if (progress.isFenced || progress.didNothing) return true;
    return progress.hasEnded && this.#books.isDelivered(progress);
  }

  /** Enters `closing` when the load has ended, and closes when nothing is missing. */
  #checkEnd(): void {
    if (this.#isClosing) return;
    if (!this.#shards.all.every((each) => each.hasEnded || this.#books.isDelivered(each))) return;
    if (this.#reissue.rests.isWaiting) {
      this.#waitForSlot();
      return;
    }
    // Results have another way than intervals: the last interval, still to come, may give something back.
    const mayGiveBack = this.#wantsRests && this.#shards.all.some((each) => this.#mayGiveBack(each));
    if (mayGiveBack && !this.#hasWaitedLong) {
      if (!this.#timers.isArmed('giveBack')) {
        this.#timers.arm('giveBack', RETURN_MS, () => {
          this.#hasWaitedLong = true;
          this.#checkEnd();
        });
      }
      return;
    }
    this.#timers.disarm('giveBack');
    this.#beginClosing();
    if (!this.#books.isSettled) return;
    const open = this.#shards.all.filter((progress) => !this.#isOver(progress));
    if (open.length === 0) this.#close();
    else if (open.every((progress) => progress.failure !== undefined)) {
      this.#timers.arm('close', FAILED_SHARD_GRACE_MS, () => this.#close());
    }
  }

  #mayGiveBack(progress: ShardProgress): boolean {
    const { totals, shard, isFenced } = progress;
    if (totals === undefined || isFenced || this.#books.isDelivered(progress)) return false;
    return isUnfinished(shard, { counters: totals.counters, number: 0, span: totals.intervals });
  }

  /** Everything but a rest has ended: a slot that becomes free soon, or an agent that joins, may still do it. */
  #waitForSlot(): void {
    if (this.#timers.isArmed('rest')) return;
    this.#timers.arm('rest', REST_GRACE_MS, () => {
      this.#reissue.dropAll('no slot became free');
      this.#checkEnd();
    });
  }

  #beginClosing(): void {
    if (this.state === 'closing' || isFinalState(this.state)) return;
    this.#timers.disarm('load');
    this.#journal.move('closing');
    this.#timers.arm('close', LIMITS.closeTimeoutMs, () => this.#close());
  }

  #close(): void {
    if (this.#isClosing) return;
    this.#reissue.rests.dropAll();
    this.#isClosing = true;
    this.#timers.disarmAll();
    const { log } = this.#services;
    this.#finish()
      .catch((error: unknown) => log.error({ err: error, run: this.head.id }, 'a run could not be closed'))
      .finally(() => this.#resolveEnded());
  }

  async #finish(): Promise<void> {
    for (const progress of this.#shards.all) if (!this.#isOver(progress)) this.#cutOff(progress);
    await this.#groups.abandon();
    await this.#journal.settled();
    const change = await judgeRun({
      head: this.head,
      services: this.#services,
      shards: this.#shards,
      agents: this.#agents,
      books: this.#books,
      orders: this.#orders,
      rests: this.#reissue.rests,
      stopReason: this.#stopReason,
      failure: this.#failure,
      probeFatal: this.#probeFatal,
    });
    this.#failure = change.reason;
    await this.#journal.end(change);
  }

  /** It may still be sending; what comes now is too late to count. */
  #cutOff(progress: ShardProgress): void {
    progress.failure ??= 'it did not end in time';
    this.#services.registry.send(progress.agentId, { kind: 'fenced', shard: progress.attempt });
    this.#books.end(progress);
    this.#journal.saveShard(progress);
  }
}
