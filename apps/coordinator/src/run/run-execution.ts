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
  loadDurationMs,
  type ProbeResult,
  type RunState,
  type ShardAttempt,
  shardAttemptKey,
} from '@broadside/shared';
import type { EnqueuedRun, ShardEndings } from '../shard/shard-queue.js';
import { StartBarrier, startInstantUs } from '../shard/start-barrier.js';
import { NamedTimers } from './named-timers.js';
import type { RunChange } from './run.repository.js';
import { RunAgents } from './run-agents.js';
import { RunBooks } from './run-books.js';
import { RunJournal } from './run-journal.js';
import { RunOrders } from './run-orders.js';
import { reportOf } from './run-report.js';
import type { RunHead, RunServices, StateMessage } from './run-services.js';
import { endStateOf } from './run-state.js';
import { endedEarly, hasFatalEnd, isSocketError, takeEnding } from './shard-ending.js';
import { namesOf, type ShardProgress } from './shard-progress.js';

/** The agent's own timeout ends the probe; this is for an agent that says nothing. */
const PROBE_MARGIN_MS = 10_000;
/** What a shard that failed may still deliver of the time before. */
const FAILED_SHARD_GRACE_MS = 2_000;

export class RunExecution {
  readonly head: RunHead;
  /** Resolves when the run is in a final state and stored. Never rejects. */
  readonly ended: Promise<void>;
  readonly #services: RunServices;
  readonly #shards: readonly ShardProgress[];
  readonly #agents: RunAgents;
  readonly #barrier: StartBarrier;
  readonly #orders: RunOrders;
  readonly #books: RunBooks;
  readonly #journal: RunJournal;
  readonly #timers = new NamedTimers<'ready' | 'probe' | 'load' | 'close'>();
  #resolveEnded: () => void = () => undefined;
  #stopReason: string | undefined;
  #failure: string | undefined;
  #probeFatal: Fatal | undefined;
  #enqueued: EnqueuedRun | undefined;
  #haveAllEnded = false;
  #isClosing = false;

  constructor(services: RunServices, head: RunHead, shards: readonly ShardProgress[]) {
    this.#services = services;
    this.head = head;
    this.#shards = shards;
    this.#agents = new RunAgents(services.registry, shards);
    this.#journal = new RunJournal({ runId: head.id, services, describe: () => this.#describe() });
    this.#barrier = new StartBarrier({ shardCount: shards.length, wantsProbe: head.plan.probe });
    this.#orders = new RunOrders(this.#barrier);
    const durationMs = loadDurationMs(head.plan);
    this.#books = new RunBooks({
      runId: head.id,
      shardCount: shards.length,
      expectedSeconds: durationMs === undefined ? undefined : Math.ceil(durationMs / LIMITS.intervalMs),
      write: (frame) => services.writer.write(frame),
      send: (agentId, message) => services.registry.send(agentId, message),
      publish: (message) => services.events.emit('live-message', message),
      onSettled: () => this.#checkEnd(),
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

  /** Stores the shards, then hands them to the queue. */
  async begin(): Promise<void> {
    const { queue, runs, log } = this.#services;
    this.#journal.move('preparing');
    this.#timers.arm('ready', LIMITS.readyTimeoutMs, () => this.#giveUpWaiting());
    try {
      await runs.insertShards(this.#shards);
      // Stopped while it was being stored: nothing has gone out, so nothing needs to come back.
      if (!this.#orders.isStopped) this.#enqueued = await queue.enqueue(this.head.id, this.#shards);
    } catch (error) {
      log.error({ err: error, run: this.head.id }, 'a run could not be handed to the queue');
      this.#fail('the shards could not be handed to the queue');
    }
    if (this.#enqueued === undefined) this.shardsEnded(new Map());
    else if (this.#orders.isStopped) this.#withdraw();
    for (const progress of this.#shards) if (progress.isFenced) await this.#enqueued?.release(progress.key);
  }

  /** True when the attempt is one of this run, lives on this agent and is not fenced. */
  owns(agentId: string, attempt: ShardAttempt): boolean {
    return this.#find(agentId, attempt) !== undefined;
  }

  /** @param warnings what the agent finds doubtful about its machine. */
  ready(agentId: string, attempt: ShardAttempt, warnings: readonly string[] = []): void {
    const progress = this.#find(agentId, attempt);
    if (progress === undefined) return;
    this.#agents.warn(agentId, warnings);
    progress.isReady = true;
    const step = this.#barrier.ready(attempt.shardIndex);
    if (this.#orders.isStopped || step === 'wait') this.#sayOrder(progress);
    else if (step === 'probe') this.#sendProbe();
    else this.#start();
  }

  /** The agent could not prepare the shard: without it the run is not the plan. */
  refused(agentId: string, attempt: ShardAttempt, fatal: Fatal): void {
    const progress = this.#find(agentId, attempt);
    if (progress === undefined || progress.hasEnded) return;
    progress.fatal = fatal;
    progress.didNothing = true;
    this.#books.end(progress);
    this.#fail(fatal.message);
    this.#checkEnd();
  }

  probed(agentId: string, attempt: ShardAttempt, result: ProbeResult): void {
    if (this.#find(agentId, attempt) === undefined || this.#barrier.isOpen) return;
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
    const progress = this.#find(agentId, interval);
    if (progress === undefined || this.#isClosing) return false;
    if (!this.#books.take(progress, interval, frame)) return true;
    if (!this.#orders.isStopped && interval.isLast) this.#checkLast(progress, interval);
    this.#checkEnd();
    return true;
  }

  /** All shards have ended in the queue, in whatever way. */
  shardsEnded(endings: ShardEndings): void {
    if (this.#haveAllEnded) return;
    this.#haveAllEnded = true;
    for (const progress of this.#shards) {
      if (progress.hasEnded) continue;
      takeEnding(progress, endings.get(progress.key), this.#orders.isStopped);
      if (progress.didNothing || progress.failure !== undefined || progress.totals?.intervals === 0) {
        this.#books.end(progress);
      }
      this.#journal.saveShard(progress);
    }
    this.#checkEnd();
  }

  /** The agent said hello again: what it still holds goes on, what it has forgotten is lost. */
  agentBack(agentId: string, alive: ReadonlySet<string>): void {
    for (const progress of this.#openShardsOf(agentId)) {
      if (alive.has(progress.key)) {
        this.#sayOrder(progress);
        this.#books.acknowledge(progress);
      } else if (progress.isReady && !this.#books.isDelivered(progress)) {
        this.#lose(progress, `agent ${progress.agentName} came back without it`);
      }
    }
    this.#checkEnd();
  }

  agentLost(agentId: string): void {
    const open = this.#openShardsOf(agentId);
    // A shard that is delivered whole is not lost: its result is in the queue, or nobody is left to bring it.
    for (const each of open) void this.#enqueued?.release(each.key);
    for (const each of open.filter((shard) => !this.#books.isDelivered(shard))) {
      this.#agents.markLost(agentId);
      this.#lose(each, `agent ${each.agentName} was lost`);
      if (this.#orders.startAtUs === undefined)
        this.#fail(`agent ${each.agentName} was lost before the start`);
    }
    this.#checkEnd();
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
      shards: this.#shards.length,
      agents: this.#agents.count,
      ...(warnings.length === 0 ? {} : { warnings }),
      ...(startAtUs === undefined ? {} : { startAtUs }),
    };
  }

  #find(agentId: string, attempt: ShardAttempt): ShardProgress | undefined {
    const progress = this.#shards[attempt.shardIndex];
    if (progress === undefined || progress.key !== shardAttemptKey(attempt)) return undefined;
    return progress.agentId === agentId && !progress.isFenced ? progress : undefined;
  }

  #openShardsOf(agentId: string): ShardProgress[] {
    return this.#shards.filter((progress) => progress.agentId === agentId && !this.#isOver(progress));
  }

  #sendProbe(): void {
    this.#timers.disarm('ready');
    const [first] = this.#shards;
    if (first === undefined) return;
    this.#sayOrder(first);
    this.#timers.arm('probe', this.head.plan.timeoutMs + PROBE_MARGIN_MS, () => {
      this.#fail(`${first.name} gave no result of the probe`);
    });
  }

  #start(): void {
    this.#timers.disarm('ready', 'probe');
    const uncertaintiesUs = this.#agents.facts().map((agent) => agent.clockUncertaintyUs);
    const startAtUs = startInstantUs(this.#services.clock.epochUs(), LIMITS.startDelayMs, uncertaintiesUs);
    this.#orders.start(startAtUs);
    for (const progress of this.#shards) this.#sayOrder(progress);
    this.#journal.move('running', { startedAt: new Date(startAtUs / 1_000) });
    const { timeoutMs } = this.head.plan;
    const durationMs = loadDurationMs(this.head.plan);
    if (durationMs === undefined) return;
    // For shards that never say that they have ended.
    this.#timers.arm('load', LIMITS.startDelayMs + durationMs + timeoutMs, () => this.#beginClosing());
  }

  #sayOrder(progress: ShardProgress): void {
    const order = this.#orders.orderFor(progress);
    if (order !== undefined) this.#services.registry.send(progress.agentId, order);
  }

  #stopShards(reason: string): void {
    if (this.#orders.isStopped) return;
    this.#orders.stop(reason);
    this.#timers.disarm('ready', 'probe');
    for (const progress of this.#shards) if (!progress.hasEnded) this.#sayOrder(progress);
    this.#beginClosing();
    this.#withdraw();
  }

  /** Takes back the shards that no slot has claimed; the run does not wait for them. */
  #withdraw(): void {
    for (const progress of this.#shards) {
      if (progress.isReady || progress.hasEnded) continue;
      void this.#enqueued?.withdraw(progress.key).then((isBack) => {
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
    const named = namesOf(this.#shards.filter((progress) => !progress.isReady));
    this.#fail(`not ready within ${LIMITS.readyTimeoutMs / 1_000} s: ${named}`);
  }

  /** A shard has said its last although nobody stopped it: was it its budget, or something else? */
  #checkLast(progress: ShardProgress, interval: Interval): void {
    const { plan } = this.head;
    if (plan.onSocketError === 'stop' && hasFatalEnd(plan, interval)) {
      this.#stopShards(`${progress.name} ended with a fatal error`);
    } else if (endedEarly(interval)) {
      this.#books.note(`${progress.name}: its agent left before its load was sent`);
    }
  }

  #lose(progress: ShardProgress, why: string): void {
    progress.isFenced = true;
    this.#books.end(progress);
    this.#books.note(`${progress.name}: ${why}; what it sent since its last interval is not known`);
    this.#services.registry.send(progress.agentId, { kind: 'fenced', shard: progress.attempt });
    this.#journal.saveShard(progress);
    void this.#enqueued?.release(progress.key);
  }

  /** Nothing more is expected of the shard. */
  #isOver(progress: ShardProgress): boolean {
    if (progress.isFenced || progress.didNothing) return true;
    return progress.hasEnded && this.#books.isDelivered(progress);
  }

  /** Enters `closing` when the load has ended, and closes when nothing is missing. */
  #checkEnd(): void {
    if (this.#isClosing) return;
    if (!this.#shards.every((each) => each.hasEnded || this.#books.isDelivered(each))) return;
    this.#beginClosing();
    if (!this.#books.isSettled) return;
    const open = this.#shards.filter((progress) => !this.#isOver(progress));
    if (open.length === 0) this.#close();
    else if (open.every((progress) => progress.failure !== undefined)) {
      this.#timers.arm('close', FAILED_SHARD_GRACE_MS, () => this.#close());
    }
  }

  #beginClosing(): void {
    if (this.state === 'closing' || isFinalState(this.state)) return;
    this.#timers.disarm('load');
    this.#journal.move('closing');
    this.#timers.arm('close', LIMITS.closeTimeoutMs, () => this.#close());
  }

  #close(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#timers.disarmAll();
    const { log } = this.#services;
    this.#finish()
      .catch((error: unknown) => log.error({ err: error, run: this.head.id }, 'a run could not be closed'))
      .finally(() => this.#resolveEnded());
  }

  async #finish(): Promise<void> {
    for (const progress of this.#shards) if (!this.#isOver(progress)) this.#cutOff(progress);
    if (!this.#haveAllEnded) await this.#enqueued?.abandon();
    await this.#journal.settled();
    const change = await this.#judge();
    this.#failure = change.reason;
    await this.#journal.end(change);
  }

  /** The final state with the report; a report that cannot be made fails the run. */
  async #judge(): Promise<RunChange> {
    const { intervals, log } = this.#services;
    const endedAt = new Date();
    const { startAtUs, referenceBytes } = this.#orders;
    const ending = endStateOf({
      stopReason: this.#stopReason,
      failure: this.#failure,
      onSocketError: this.head.plan.onSocketError,
      shardCount: this.#shards.length,
      fatals: this.#shards.flatMap((each) => each.fatal ?? []),
    });
    try {
      const report = await reportOf({
        plan: this.head.plan,
        run: {
          id: this.head.id,
          ...ending,
          createdAt: this.head.createdAt.toISOString(),
          ...(startAtUs === undefined ? {} : { startedAt: new Date(startAtUs / 1_000).toISOString() }),
          endedAt: endedAt.toISOString(),
        },
        shards: this.#shards,
        agents: this.#agents.facts(),
        totals: this.#books.totals,
        seconds: this.#books.seconds,
        referenceBytes,
        fatal: this.#probeFatal,
        problems: this.#books.problems,
        warnings: this.#agents.warnings,
        loadIntervals: (attempt) => intervals.load(attempt),
      });
      return { ...ending, endedAt, report };
    } catch (error) {
      log.error({ err: error, run: this.head.id }, 'a report could not be made');
      return { state: 'failed', reason: 'the report could not be made; the log has the details', endedAt };
    }
  }

  /** It may still be sending; what comes now is too late to count. */
  #cutOff(progress: ShardProgress): void {
    progress.failure ??= 'it did not end in time';
    this.#services.registry.send(progress.agentId, { kind: 'fenced', shard: progress.attempt });
    this.#books.end(progress);
    this.#journal.saveShard(progress);
  }
}
