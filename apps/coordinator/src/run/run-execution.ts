/**
 * One run from the moment its slots are reserved until its report is stored. Everything that happens comes in
 * as a method call, in any order; the pure parts (barrier, merger, states) decide, and this acts.
 *
 *   begin ─► ready … ready ─► [probe ─► probed] ─► start ─► intervals … ─► endings ─► close
 *      stop, agentLost, refused, a deadline ──────────────────────────────────▲
 */
import {
  type AgentFacts,
  counterOf,
  decodeTotals,
  type Fatal,
  FrameError,
  failedOf,
  type Interval,
  isFinalState,
  LIMITS,
  type LiveMessage,
  type Plan,
  type ProbeResult,
  type RunState,
  type Second,
  type ShardAttempt,
  shardAttemptKey,
} from '@broadside/shared';
import type { Logger } from 'pino';
import type { AgentRegistry } from '../agent/agent-registry.js';
import type { Clock } from '../clock.js';
import type { CoordinatorEvents } from '../events.js';
import type { IntervalRepository } from '../interval/interval.repository.js';
import { IntervalMerger } from '../interval/interval-merger.js';
import type { IntervalWriter } from '../interval/interval-writer.js';
import type { EnqueuedRun, ShardEndings, ShardQueue } from '../shard/shard-queue.js';
import { StartBarrier, startInstantUs } from '../shard/start-barrier.js';
import { type RunChange, type RunRepository } from './run.repository.js';
import { reportOf } from './run-report.js';
import { assertMove, endStateOf } from './run-state.js';
import type { ShardProgress } from './shard-progress.js';

/** What an execution works with; the same for all runs. */
export interface RunServices {
  readonly registry: AgentRegistry;
  readonly queue: ShardQueue;
  readonly writer: IntervalWriter;
  readonly intervals: IntervalRepository;
  readonly runs: RunRepository;
  readonly events: CoordinatorEvents;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface RunHead {
  readonly id: string;
  readonly plan: Plan;
  readonly createdAt: Date;
}

export type StateMessage = Extract<LiveMessage, { kind: 'state' }>;

/** The agent's own timeout ends the probe; this is for an agent that says nothing. */
const PROBE_MARGIN_MS = 10_000;
/** What a shard that failed may still deliver of the time before. */
const FAILED_SHARD_GRACE_MS = 2_000;
/** Problems that are kept; a run in which everything is wrong needs no more. */
const MAX_PROBLEMS = 100;

export class RunExecution {
  readonly head: RunHead;
  /** Resolves when the run is in a final state and stored. Never rejects. */
  readonly ended: Promise<void>;
  readonly #services: RunServices;
  readonly #shards: readonly ShardProgress[];
  readonly #agents: readonly AgentFacts[];
  readonly #barrier: StartBarrier;
  readonly #merger: IntervalMerger;
  readonly #closedTotal = { planned: 0, completed: 0, failed: 0 };
  readonly #timers = new Map<'ready' | 'probe' | 'load' | 'close', NodeJS.Timeout>();
  readonly #problems: string[] = [];
  readonly #lostAgents = new Set<string>();
  #resolveEnded: () => void = () => undefined;
  #state: RunState = 'queued';
  #stopReason: string | undefined;
  #failure: string | undefined;
  /** The order that shards got last; said again to an agent that comes back. */
  #stopOrder: string | undefined;
  #startAtUs: number | undefined;
  #referenceBytes: number | undefined;
  #probeFatal: Fatal | undefined;
  #enqueued: EnqueuedRun | undefined;
  #haveAllEnded = false;
  #isClosing = false;
  #pendingWrites = 0;
  /** Changes of the stored state, one after the other. */
  #saving: Promise<void> = Promise.resolve();

  constructor(services: RunServices, head: RunHead, shards: readonly ShardProgress[]) {
    this.#services = services;
    this.head = head;
    this.#shards = shards;
    this.#agents = agentFactsOf(shards, services.registry);
    this.#barrier = new StartBarrier({ shardCount: shards.length, wantsProbe: head.plan.probe });
    this.#merger = new IntervalMerger({
      shardCount: shards.length,
      expectedSeconds:
        head.plan.durationMs === undefined ? undefined : Math.ceil(head.plan.durationMs / LIMITS.intervalMs),
    });
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
  }

  get state(): RunState {
    return this.#state;
  }

  /** The state as watchers see it. */
  get stateMessage(): StateMessage {
    const reason = this.#failure ?? this.#stopReason;
    return {
      kind: 'state',
      runId: this.head.id,
      state: this.#state,
      ...(reason === undefined ? {} : { reason: reason.slice(0, 1_000) }),
      shards: this.#shards.length,
      agents: this.#agents.length,
      ...(this.#startAtUs === undefined ? {} : { startAtUs: this.#startAtUs }),
    };
  }

  /** Rows of the seconds that have closed, for a watcher who comes late. */
  get seconds(): readonly Second[] {
    return this.#merger.seconds();
  }

  get closedTotal(): Readonly<{ planned: number; completed: number; failed: number }> {
    return { ...this.#closedTotal };
  }

  /** Stores the shards, then hands them to the queue. */
  async begin(): Promise<void> {
    const { queue, runs, log } = this.#services;
    this.#move('preparing');
    this.#arm('ready', LIMITS.readyTimeoutMs, () => this.#giveUpWaiting());
    try {
      await runs.insertShards(this.#shards);
      // Stopped while it was being stored: nothing has gone out, so nothing needs to come back.
      if (this.#stopOrder === undefined) this.#enqueued = await queue.enqueue(this.head.id, this.#shards);
    } catch (error) {
      log.error({ err: error, run: this.head.id }, 'a run could not be handed to the queue');
      this.#fail('the shards could not be handed to the queue');
    }
    if (this.#enqueued === undefined) this.shardsEnded(new Map());
    else if (this.#stopOrder !== undefined) this.#withdraw();
  }

  /** True when the attempt is one of this run, lives on this agent and is not fenced. */
  owns(agentId: string, attempt: ShardAttempt): boolean {
    return this.#find(agentId, attempt) !== undefined;
  }

  ready(agentId: string, attempt: ShardAttempt): void {
    const progress = this.#find(agentId, attempt);
    if (progress === undefined) return;
    progress.isReady = true;
    const step = this.#barrier.ready(attempt.shardIndex);
    if (this.#stopOrder !== undefined || step === 'wait') this.#repeatOrder(progress);
    else if (step === 'probe') this.#sendProbe();
    else this.#start();
  }

  refused(agentId: string, attempt: ShardAttempt, fatal: Fatal): void {
    const progress = this.#find(agentId, attempt);
    if (progress === undefined) return;
    progress.fatal = fatal;
    this.#fail(fatal.message);
  }

  probed(agentId: string, attempt: ShardAttempt, result: ProbeResult): void {
    if (this.#find(agentId, attempt) === undefined || this.#barrier.isOpen) return;
    this.#disarm('probe');
    if (this.#stopOrder !== undefined) return;
    if (!result.ok && this.head.plan.onSocketError === 'stop') {
      this.#probeFatal = result.fatal;
      this.#fail(result.fatal.message);
      return;
    }
    if (result.ok && this.head.plan.checkLength) this.#referenceBytes = result.bodyBytes;
    if (this.#barrier.probed() === 'start') this.#start();
  }

  /** @returns false when the frame is not of a live attempt on this agent: it is to be fenced. */
  interval(agentId: string, interval: Interval, frame: Buffer): boolean {
    const progress = this.#find(agentId, interval);
    if (progress === undefined) return false;
    const arrival = this.#merger.accept(interval);
    if (arrival === 'duplicate') this.#acknowledge(progress);
    else if (arrival !== 'new')
      this.#note(`${progress.name}: interval ${interval.number} is out of order (${arrival})`);
    if (arrival !== 'new') return true;
    this.#store(progress, interval, frame);
    this.#showSeconds();
    this.#stopOthersAfter(progress, interval);
    this.#checkEnd();
    return true;
  }

  /** All shards have ended in the queue, in whatever way. */
  shardsEnded(endings: ShardEndings): void {
    if (this.#haveAllEnded) return;
    this.#haveAllEnded = true;
    for (const progress of this.#shards) this.#takeEnding(progress, endings);
    this.#showSeconds();
    this.#checkEnd();
  }

  /** The agent said hello again: what it still holds goes on, what it has forgotten is lost. */
  agentBack(agentId: string, alive: ReadonlySet<string>): void {
    for (const progress of this.#shardsOf(agentId)) {
      if (alive.has(progress.key)) {
        this.#repeatOrder(progress);
        this.#acknowledge(progress);
      } else if (progress.isReady && !this.#isDelivered(progress)) {
        this.#lose(progress, `agent ${progress.agentName} came back without it`);
      }
    }
    this.#checkEnd();
  }

  agentLost(agentId: string): void {
    const lost = this.#shardsOf(agentId);
    if (lost.length === 0) return;
    this.#lostAgents.add(agentId);
    for (const progress of lost) this.#lose(progress, `agent ${progress.agentName} was lost`);
    // A run whose load has not begun has nothing to go on with.
    if (this.#startAtUs === undefined)
      this.#fail(`agent ${lost[0]?.agentName ?? agentId} was lost before the start`);
    this.#showSeconds();
    this.#checkEnd();
  }

  /** Ends the load; the run closes with what was done. */
  stop(reason: string): void {
    if (isFinalState(this.#state) || this.#isClosing) return;
    this.#stopReason ??= reason;
    this.#orderStop(reason);
  }

  /** Closes now, with what there is: the coordinator leaves. */
  giveUp(): void {
    if (this.#isClosing) return;
    this.#beginClosing();
    this.#close();
  }

  #find(agentId: string, attempt: ShardAttempt): ShardProgress | undefined {
    const progress = this.#shards[attempt.shardIndex];
    if (progress === undefined || progress.key !== shardAttemptKey(attempt)) return undefined;
    return progress.agentId === agentId && !progress.isFenced ? progress : undefined;
  }

  /** Live shards of one agent. */
  #shardsOf(agentId: string): ShardProgress[] {
    return this.#shards.filter(
      (progress) => progress.agentId === agentId && !progress.isFenced && !this.#isOver(progress),
    );
  }

  #sendProbe(): void {
    this.#disarm('ready');
    const [first] = this.#shards;
    if (first === undefined) return;
    this.#repeatOrder(first);
    this.#arm('probe', this.head.plan.timeoutMs + PROBE_MARGIN_MS, () => {
      this.#fail(`${first.name} gave no result of the probe`);
    });
  }

  #start(): void {
    const { clock } = this.#services;
    this.#disarm('ready');
    const uncertaintiesUs = this.#agents.map(({ agentId }) => this.#factsNow(agentId).clockUncertaintyUs);
    this.#startAtUs = startInstantUs(clock.epochUs(), LIMITS.startDelayMs, uncertaintiesUs);
    for (const progress of this.#shards) this.#repeatOrder(progress);
    this.#move('running', { startedAt: new Date(this.#startAtUs / 1_000) });
    const { durationMs, timeoutMs } = this.head.plan;
    if (durationMs === undefined) return;
    // For shards that never say that they have ended.
    this.#arm('load', LIMITS.startDelayMs + durationMs + timeoutMs, () => this.#beginClosing());
  }

  /** Says to the agent what its shard is to do now; agents take the same order twice as one. */
  #repeatOrder(progress: ShardProgress): void {
    const { registry } = this.#services;
    const shard = progress.attempt;
    if (this.#stopOrder !== undefined) {
      registry.send(progress.agentId, { kind: 'stop', shard, reason: this.#stopOrder });
    } else if (this.#startAtUs !== undefined) {
      registry.send(progress.agentId, {
        kind: 'start',
        shard,
        startAtUs: this.#startAtUs,
        ...(this.#referenceBytes === undefined ? {} : { referenceBytes: this.#referenceBytes }),
      });
    } else if (progress.shard.probe && this.#barrier.missing().length === 0) {
      registry.send(progress.agentId, { kind: 'probe', shard });
    }
  }

  #orderStop(reason: string): void {
    if (this.#stopOrder !== undefined) return;
    this.#stopOrder = reason.slice(0, 200);
    this.#disarm('ready');
    this.#disarm('probe');
    for (const progress of this.#shards) if (!progress.hasEnded) this.#repeatOrder(progress);
    this.#beginClosing();
    this.#withdraw();
  }

  /** Takes back the shards that no slot has claimed; the run does not wait for them. */
  #withdraw(): void {
    const { log } = this.#services;
    for (const progress of this.#shards) {
      if (progress.isReady || progress.hasEnded) continue;
      this.#enqueued?.withdraw(progress.key).then(
        (isBack) => {
          if (!isBack || progress.isReady || progress.hasEnded) return;
          progress.isWithdrawn = true;
          this.#merger.end(progress.shard.shardIndex);
          this.#checkEnd();
        },
        (error: unknown) => log.warn({ err: error }, `${progress.name} was not taken back`),
      );
    }
  }

  #fail(reason: string): void {
    this.#failure ??= reason;
    this.#orderStop(reason);
  }

  #giveUpWaiting(): void {
    const missing = this.#barrier.missing().map((i) => this.#shards[i]?.name ?? `shard ${i}`);
    const named =
      missing.length > 3
        ? `${missing.slice(0, 3).join(', ')} and ${missing.length - 3} more`
        : missing.join(', ');
    this.#fail(`not ready within ${LIMITS.readyTimeoutMs / 1_000} s: ${named}`);
  }

  #store(progress: ShardProgress, interval: Interval, frame: Buffer): void {
    const { number, span, isLast } = interval;
    this.#pendingWrites++;
    this.#services.writer
      .write({ ...progress.attempt, number, frame })
      .then(
        () => {
          progress.stored.accept({ number, span, isLast });
          this.#acknowledge(progress);
        },
        () => this.#note(`${progress.name}: interval ${number} could not be stored`),
      )
      .finally(() => {
        this.#pendingWrites--;
        this.#checkEnd();
      });
  }

  #acknowledge(progress: ShardProgress): void {
    const number = progress.stored.next - 1;
    if (number < 0) return;
    this.#services.registry.send(progress.agentId, { kind: 'ack', shard: progress.attempt, number });
  }

  #showSeconds(): void {
    for (const second of this.#merger.takeClosed()) {
      this.#closedTotal.planned += second.planned;
      this.#closedTotal.completed += second.completed;
      this.#closedTotal.failed += second.failed;
      this.#services.events.emit('live-message', {
        kind: 'second',
        runId: this.head.id,
        second,
        total: this.closedTotal,
      });
    }
  }

  /** Under `onSocketError: stop` a shard that ended before its budget takes the others with it. */
  #stopOthersAfter(progress: ShardProgress, interval: Interval): void {
    const { onSocketError, durationMs, requests } = this.head.plan;
    if (onSocketError !== 'stop' || !interval.isLast || this.#stopOrder !== undefined) return;
    const endMs = (interval.number + interval.span) * LIMITS.intervalMs;
    const isEarly = requests === undefined && durationMs !== undefined && endMs < durationMs;
    if (counterOf(interval.counters, 'notSentFatal') === 0 && !isEarly) return;
    this.#orderStop(`${progress.name} ended with a fatal error`);
  }

  #takeEnding(progress: ShardProgress, endings: ShardEndings): void {
    if (progress.hasEnded) return;
    const ending = endings.get(progress.key);
    if (ending === undefined && !progress.isReady) {
      progress.isWithdrawn = true;
      this.#merger.end(progress.shard.shardIndex);
      return;
    }
    if (ending?.kind === 'result') {
      try {
        progress.totals = decodeTotals(Buffer.from(ending.result.totals, 'base64'));
        progress.result = ending.result;
      } catch (error) {
        if (!(error instanceof FrameError)) throw error;
        progress.failure = `its totals cannot be read (${error.message})`;
      }
    } else {
      progress.failure = ending?.reason ?? 'it ended without a result';
    }
    const state = progress.result === undefined ? 'failed' : 'finished';
    if (state === 'failed' || progress.totals?.intervals === 0) this.#merger.end(progress.shard.shardIndex);
    const totals = ending?.kind === 'result' ? Buffer.from(ending.result.totals, 'base64') : undefined;
    const fatal = progress.fatal ?? progress.result?.fatal;
    this.#save(() => this.#services.runs.changeShard(progress.attempt, { state, totals, fatal }));
  }

  #lose(progress: ShardProgress, why: string): void {
    progress.isFenced = true;
    this.#merger.end(progress.shard.shardIndex);
    this.#note(`${progress.name}: ${why}; what it sent since its last interval is not known`);
    this.#services.registry.send(progress.agentId, { kind: 'fenced', shard: progress.attempt });
    this.#save(() => this.#services.runs.changeShard(progress.attempt, { state: 'fenced' }));
    const { log } = this.#services;
    this.#enqueued
      ?.release(progress.key)
      .catch((error: unknown) => log.warn({ err: error }, 'release failed'));
  }

  /** Every interval is here, or none was to come. */
  #isDelivered(progress: ShardProgress): boolean {
    return this.#merger.isComplete(progress.shard.shardIndex) || progress.totals?.intervals === 0;
  }

  /** Nothing more is expected of the shard. */
  #isOver(progress: ShardProgress): boolean {
    if (progress.isFenced || progress.isWithdrawn) return true;
    return progress.hasEnded && this.#isDelivered(progress);
  }

  /** Enters `closing` when the load has ended, and closes when nothing is missing. */
  #checkEnd(): void {
    if (this.#isClosing) return;
    const hasLoadEnded = this.#shards.every(
      (each) => each.isFenced || each.hasEnded || this.#isDelivered(each),
    );
    if (!hasLoadEnded) return;
    this.#beginClosing();
    if (this.#pendingWrites > 0) return;
    const open = this.#shards.filter((progress) => !this.#isOver(progress));
    if (open.length === 0) this.#close();
    else if (open.every((progress) => progress.failure !== undefined)) {
      this.#arm('close', FAILED_SHARD_GRACE_MS, () => this.#close());
    }
  }

  #beginClosing(): void {
    if (this.#state === 'closing' || isFinalState(this.#state)) return;
    this.#disarm('load');
    this.#move('closing');
    this.#arm('close', LIMITS.closeTimeoutMs, () => this.#close());
  }

  #close(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    const { log } = this.#services;
    this.#finish()
      .catch((error: unknown) => log.error({ err: error, run: this.head.id }, 'a run could not be closed'))
      .finally(() => this.#resolveEnded());
  }

  async #finish(): Promise<void> {
    const { runs, intervals, log, events } = this.#services;
    if (!this.#haveAllEnded) await this.#enqueued?.abandon();
    // Shards that are still open may be sending: what comes now is too late to count.
    for (const progress of this.#shards) if (!this.#isOver(progress)) this.#fenceLate(progress);
    const ending = endStateOf({
      stopReason: this.#stopReason,
      failure: this.#failure,
      onSocketError: this.head.plan.onSocketError,
      shardCount: this.#shards.length,
      fatals: this.#shards.flatMap((each) => each.fatal ?? each.result?.fatal ?? []),
    });
    const endedAt = new Date();
    const startedAt = this.#startAtUs === undefined ? undefined : new Date(this.#startAtUs / 1_000);
    await this.#saving;
    let change: RunChange = { ...ending, endedAt };
    try {
      const report = await reportOf({
        plan: this.head.plan,
        run: {
          id: this.head.id,
          ...ending,
          createdAt: this.head.createdAt.toISOString(),
          ...(startedAt === undefined ? {} : { startedAt: startedAt.toISOString() }),
          endedAt: endedAt.toISOString(),
        },
        shards: this.#shards,
        agents: this.#agents.map(({ agentId }) => this.#factsNow(agentId)),
        totals: this.#merger.totals,
        seconds: this.#merger.seconds(),
        referenceBytes: this.#referenceBytes,
        fatal: this.#probeFatal,
        problems: this.#problems,
        loadIntervals: (attempt) => intervals.load(attempt),
      });
      change = { ...change, report };
    } catch (error) {
      log.error({ err: error, run: this.head.id }, 'a report could not be made');
      change = { state: 'failed', reason: 'the report could not be made; the log has the details', endedAt };
    }
    this.#failure = change.reason;
    try {
      await runs.change(this.head.id, change);
    } finally {
      assertMove(this.#state, change.state);
      this.#state = change.state;
      events.emit('live-message', this.stateMessage);
    }
  }

  #fenceLate(progress: ShardProgress): void {
    progress.failure ??= 'it did not end in time';
    this.#services.registry.send(progress.agentId, { kind: 'fenced', shard: progress.attempt });
    this.#merger.end(progress.shard.shardIndex);
    this.#showSeconds();
  }

  #factsNow(agentId: string): AgentFacts {
    const before = this.#agents.find((agent) => agent.agentId === agentId);
    if (before === undefined) throw new Error(`agent ${agentId} has no part in this run`);
    const now = this.#services.registry.get(agentId);
    const lost = this.#lostAgents.has(agentId);
    if (now === undefined) return { ...before, lost };
    const { clockOffsetUs, clockUncertaintyUs } = now;
    return { ...before, lost, clockOffsetUs, clockUncertaintyUs };
  }

  #move(to: RunState, change: Omit<RunChange, 'state'> = {}): void {
    assertMove(this.#state, to);
    this.#state = to;
    this.#save(() => this.#services.runs.change(this.head.id, { state: to, ...change }));
    this.#services.events.emit('live-message', this.stateMessage);
  }

  #save(write: () => Promise<void>): void {
    const { log } = this.#services;
    this.#saving = this.#saving.then(write).catch((error: unknown) => {
      log.error({ err: error, run: this.head.id }, 'a state could not be stored');
    });
  }

  #note(problem: string): void {
    if (this.#problems.length < MAX_PROBLEMS) this.#problems.push(problem);
  }

  #arm(name: 'ready' | 'probe' | 'load' | 'close', delayMs: number, act: () => void): void {
    this.#disarm(name);
    // A timer takes at most 2^31 − 1 ms; the longest run, one week, is below that.
    this.#timers.set(name, setTimeout(act, delayMs));
  }

  #disarm(name: 'ready' | 'probe' | 'load' | 'close'): void {
    clearTimeout(this.#timers.get(name));
    this.#timers.delete(name);
  }
}

function agentFactsOf(shards: readonly ShardProgress[], registry: AgentRegistry): AgentFacts[] {
  const ids = [...new Set(shards.map((progress) => progress.agentId))];
  return ids.flatMap((agentId): AgentFacts[] => {
    const record = registry.get(agentId);
    if (record === undefined) return [];
    const { name, version, slots, machine, clockOffsetUs, clockUncertaintyUs } = record;
    return [{ agentId, name, version, slots, machine, clockOffsetUs, clockUncertaintyUs, lost: false }];
  });
}
