import { randomUUID } from 'node:crypto';
import {
  BroadsideError,
  formatCounted,
  isFinalState,
  LIMITS,
  type Plan,
  type RunDetail,
  type RunSummary,
  runIdSchema,
  type ShardAttempt,
  shardAttemptKey,
  slotWeights,
  splitPlan,
} from '@broadside/shared';
import type { LostStoreError } from '../storage/lost-store.js';
import { isStorable } from '../storage/storable-text.js';
import { whyNever } from './admission.js';
import { NamedTimers } from './named-timers.js';
import { restoredShards } from './restored-shards.js';
import type { UnfinishedRun } from './run.repository.js';
import { RunExecution } from './run-execution.js';
import { RunQueue } from './run-queue.js';
import type { RunHead, RunServices, StateMessage } from './run-services.js';
import { ShardProgress } from './shard-progress.js';
import { detailOfEnd, UnstoredEnds } from './unstored-ends.js';

/** How long the queue of an agent that has gone is kept. */
const FORGET_AGENT_MS = 60_000;
/** Time for running runs to end when the coordinator stops. */
const SHUTDOWN_TIMEOUT_MS = 5_000;

/** What happens in which order to all runs: takes them in, admits them, hands them what happens. */
export class RunService {
  readonly #services: RunServices;
  readonly #waiting: RunQueue;
  readonly #executions = new Map<string, RunExecution>();
  readonly #unstoredEnds = new UnstoredEnds();
  readonly #timers: NamedTimers;
  #isAccepting = false;

  constructor(services: RunServices) {
    this.#services = services;
    this.#timers = new NamedTimers(services.timers);
    const { timers, events, log } = services;
    this.#waiting = new RunQueue({
      timers,
      nowMs: () => Date.now(),
      whyHeld: (run, starting) => {
        const running = [...this.#executions.values()].map(({ head }) => head);
        return this.#services.gate.whyHeld(
          run.plan,
          [...running, ...starting].map(({ plan }) => plan),
        );
      },
      onChange: (runId, waiting) =>
        events.emit('live-message', { kind: 'state', runId, state: 'queued', ...waiting }),
      onTimeUp: (run, reason) => {
        this.#dismiss(run, 'failed', reason).catch((error: unknown) =>
          log.error({ err: error, run: run.id }, 'the end of a run that waited could not be stored'),
        );
      },
    });
  }

  get isAccepting(): boolean {
    return this.#isAccepting;
  }

  /** Ends what an earlier coordinator left unfinished, and begins to listen and to accept. */
  async open(): Promise<void> {
    const { runs, queue, log, canResume } = this.#services;
    const reason = 'the coordinator was stopped before the run had ended';
    this.#listen();
    // Before the queue is listened to, so that nobody is told of shards of a run that is not there yet.
    if (canResume) await this.#resumeAll();
    queue.listen(({ runId, group }, endings) => this.#executions.get(runId)?.shardsEnded(group, endings));
    const left = await runs.failUnfinished(reason, new Date(), [
      ...this.#executions.keys(),
      ...this.#waiting.runs.map((run) => run.id),
    ]);
    if (left.length > 0) log.warn(`${left.length} unfinished runs were marked as failed: ${reason}`);
    for (const execution of this.#executions.values()) execution.goOn();
    this.#isAccepting = true;
    this.#admit();
  }

  /** Takes up the runs of an earlier coordinator: its agents may have gone on with them. */
  async #resumeAll(): Promise<void> {
    const { runs, log } = this.#services;
    for (const run of await runs.loadUnfinished()) {
      try {
        if (run.state === 'queued') this.#waiting.add(headOf(run), true);
        else await this.#resume(run);
      } catch (error) {
        log.error({ err: error, run: run.id }, 'an unfinished run could not be taken up again');
        this.#executions.delete(run.id);
      }
    }
  }

  async #resume(run: UnfinishedRun): Promise<void> {
    const { runs, registry, log } = this.#services;
    const stored = await runs.loadShards(run.id);
    // Between its first state and its shards: nobody has heard of it.
    if (run.notes === undefined || stored.length === 0) {
      await runs.change(run.id, { state: 'queued' });
      this.#waiting.add(headOf(run), true);
      return;
    }
    const attempts = restoredShards(stored, run.notes);
    // One that was lost once may have come back, and have a later attempt.
    const awaited = new Set(attempts.flatMap((each) => (each.hasEnded ? [] : [each.agentId])));
    for (const facts of run.notes.agents) if (awaited.has(facts.agentId)) registry.expect(facts);
    const execution = new RunExecution(this.#services, headOf(run), attempts);
    await execution.restore(run.state, run.notes);
    for (const progress of attempts) {
      if (!progress.hasEnded) registry.reserve(progress.agentId, progress.shard);
    }
    log.info({ run: run.id }, `run goes on with ${formatCounted(attempts.length, 'shard')}`);
    this.#follow(execution);
  }

  /**
   * Takes a plan in; it starts as soon as it gets its slots.
   * @throws BroadsideError notAllowed, noSuchAgents, notEnoughSlots, busy or unavailable.
   */
  async create(plan: Plan): Promise<RunSummary> {
    const { registry, runs, queue, gate } = this.#services;
    this.#assertAccepting();
    gate.assertAllowed(plan);
    if (!isStorable(plan)) {
      throw new BroadsideError('invalid', 'the plan has U+0000, or half of a surrogate pair, in a text', {
        hint: 'give a body that is not text as bodyBase64',
      });
    }
    const never = whyNever(plan, registry.rooms());
    if (never !== undefined) {
      const wish = never.code === 'noSuchAgents' ? 'other labels' : 'fewer slots';
      throw new BroadsideError(never.code, never.reason, { hint: `ask for ${wish}, or start more agents` });
    }
    if (this.#waiting.size >= LIMITS.maxQueuedRuns) {
      throw new BroadsideError('busy', `${this.#waiting.size} runs wait already`, {
        hint: 'wait until some of them have ended, or stop some',
      });
    }
    const run: RunHead = { id: randomUUID(), plan, createdAt: new Date() };
    // In line before it is stored, so that the order is that of the requests.
    this.#waiting.add(run, false);
    try {
      await queue.assertReachable();
      await runs.insert(run);
    } catch (error) {
      this.#waiting.remove(run.id);
      throw error;
    }
    if (this.#waiting.find(run.id) === undefined) {
      // Taken out while it was being stored, which the store may have heard in the other order.
      await runs.change(run.id, { state: 'aborted', reason: 'it was stopped at once', endedAt: new Date() });
      gate.assertAllowed(plan);
    }
    this.#waiting.markStored(run.id);
    this.#admit();
    return this.#summaryOf(run);
  }

  /** The newest; older ones are found by their id. */
  async list(limit: number): Promise<RunSummary[]> {
    const summaries = await this.#services.runs.list(limit);
    return summaries.map((summary) => ({ ...summary, ...this.#waiting.find(summary.id) }));
  }

  /** @throws BroadsideError notFound */
  async get(runId: string): Promise<RunDetail> {
    const { head, unstoredEnd } = this.#executions.get(runId) ?? {};
    if (head !== undefined && unstoredEnd !== undefined) return detailOfEnd(head, unstoredEnd);
    const kept = this.#unstoredEnds.find(runId);
    if (kept !== undefined) return kept;
    // What is no id was never given to a run, and the store could not even be asked for all of it.
    const isId = runIdSchema.safeParse(runId).success;
    const detail = isId ? await this.#services.runs.find(runId) : undefined;
    if (detail === undefined) throw noSuchRun(runId);
    return { ...detail, ...this.#waiting.find(runId) };
  }

  /**
   * Stops a run: a waiting one never starts, a running one ends its load and closes with what was done.
   * @throws BroadsideError notFound, or conflict when it has ended already.
   */
  async stop(runId: string, reason: string): Promise<RunSummary> {
    const execution = this.#executions.get(runId);
    const waiting = this.#waiting.runs.find((run) => run.id === runId);
    if (execution !== undefined) execution.stop(reason);
    else if (waiting !== undefined) await this.#dismiss(waiting, 'aborted', reason);
    const { plan: _plan, report: _report, ...summary } = await this.get(runId);
    if (execution === undefined && waiting === undefined && isFinalState(summary.state)) {
      throw new BroadsideError('conflict', `run ${runId} has ended already: ${summary.state}`);
    }
    return execution === undefined ? summary : { ...summary, state: execution.state };
  }

  /** The state as watchers see it. @throws BroadsideError notFound */
  async stateOf(runId: string): Promise<StateMessage> {
    const execution = this.#executions.get(runId);
    if (execution !== undefined) return execution.stateMessage;
    const { state, reason, position } = await this.get(runId);
    return {
      kind: 'state',
      runId,
      state,
      ...(reason === undefined ? {} : { reason }),
      ...(position === undefined ? {} : { position }),
    };
  }

  /** The queue's Redis has gone, or is back: runs go on, but their reports are to name it. */
  queueChanged(where: string, isThere: boolean): void {
    for (const execution of this.#executions.values()) execution.queueChanged(where, isThere);
  }

  /** What runs is stopped: nothing of it is kept any more, and a queue in the same store hands nothing over. */
  storeLost(lost: LostStoreError): void {
    this.#services.log.error(`${lost.sentence}; runs are stopped until then`);
    for (const execution of this.#executions.values()) execution.stop(lost.message);
  }

  /** Stops everything that runs, at once, and what waits. @returns how many runs that ends. */
  async stopAll(reason: string): Promise<number> {
    const executions = [...this.#executions.values()];
    for (const execution of executions) execution.stop(reason);
    const waiting = this.#waiting.runs;
    await Promise.all(waiting.map((run) => this.#dismiss(run, 'aborted', reason)));
    return waiting.length + executions.length;
  }

  /**
   * Stops everything that runs or waits, and returns when it has ended, or the time is up.
   * @returns how many runs were ended by this; somebody may still want their reports.
   */
  async close(): Promise<number> {
    this.#isAccepting = false;
    this.#timers.disarmAll();
    const executions = [...this.#executions.values()];
    const endedRuns = await this.stopAll('the coordinator is stopping');
    let cancel: () => void = () => undefined;
    const timeout = new Promise<void>((resolve) => {
      cancel = this.#services.timers.after(SHUTDOWN_TIMEOUT_MS, resolve);
    });
    await Promise.race([Promise.all(executions.map((execution) => execution.ended)), timeout]);
    cancel();
    for (const execution of executions) execution.giveUp();
    await Promise.all(executions.map((execution) => execution.ended));
    return endedRuns;
  }

  #listen(): void {
    const { events, registry } = this.#services;
    events.on('agent-joined', ({ agentId, attempts }) => this.#welcomeBack(agentId, attempts));
    events.on('agent-changed', ({ agentId }) => {
      if (registry.isDraining(agentId)) {
        for (const execution of this.#executions.values()) execution.agentLeaves(agentId);
      }
      this.#admitSoon();
    });
    events.on('agent-lost', ({ agentId }) => {
      for (const execution of this.#executions.values()) execution.agentLost(agentId);
      this.#forgetLater(agentId);
      this.#admitSoon();
    });
    events.on('shard-ready', ({ agentId, shard, warnings }) => {
      const execution = this.#ownerOf(agentId, shard);
      if (execution === undefined) registry.send(agentId, { kind: 'fenced', shard });
      else execution.ready(agentId, shard, warnings);
    });
    events.on('shard-refused', ({ agentId, shard, fatal }) => {
      this.#executions.get(shard.runId)?.refused(agentId, shard, fatal);
    });
    events.on('shard-abandoned', ({ agentId, shard, sent }) => {
      this.#executions.get(shard.runId)?.abandoned(agentId, shard, sent);
    });
    events.on('shard-probed', ({ agentId, shard, result }) => {
      this.#executions.get(shard.runId)?.probed(agentId, shard, result);
    });
    events.on('interval-arrived', ({ agentId, interval, frame }) => {
      const isTaken = this.#executions.get(interval.runId)?.interval(agentId, interval, frame) ?? false;
      if (isTaken) return;
      const { runId, shardIndex, attempt } = interval;
      registry.send(agentId, { kind: 'fenced', shard: { runId, shardIndex, attempt } });
    });
  }

  /** Removes the queue of an agent that stays away; one that comes back needs it. */
  #forgetLater(agentId: string): void {
    const { registry, queue } = this.#services;
    this.#timers.arm(`forget ${agentId}`, FORGET_AGENT_MS, () => {
      if (registry.get(agentId) === undefined) void queue.forgetAgent(agentId);
    });
  }

  #ownerOf(agentId: string, attempt: ShardAttempt): RunExecution | undefined {
    const execution = this.#executions.get(attempt.runId);
    return execution?.owns(agentId, attempt) === true ? execution : undefined;
  }

  /** An agent that is new or back: what it holds goes on or is fenced, and its free slots count again. */
  #welcomeBack(agentId: string, attempts: readonly ShardAttempt[]): void {
    const alive = new Set(attempts.map(shardAttemptKey));
    for (const execution of this.#executions.values()) execution.agentBack(agentId, alive);
    for (const attempt of attempts) {
      if (this.#ownerOf(agentId, attempt) !== undefined) continue;
      this.#services.registry.send(agentId, { kind: 'fenced', shard: attempt });
    }
    this.#admitSoon();
  }

  /** Thousands of agents may come or go at once, and one look at their slots serves all of them. */
  #admitSoon(): void {
    this.#timers.armOnce('admit', 0, () => this.#admit());
  }

  /** Starts every run that can start now, and notes why the others wait. */
  #admit(): void {
    // What runs already comes first: its rate is missing somebody.
    for (const execution of this.#executions.values()) execution.useFreeSlots();
    // Nothing waits most of the time.
    if (this.#waiting.size === 0) return;
    const rooms = this.#services.registry.rooms();
    for (const { run, agentIds } of this.#waiting.admit(rooms)) this.#begin(run, agentIds);
  }

  #begin(run: RunHead, agentIds: readonly string[]): void {
    const { registry, log } = this.#services;
    const weights = slotWeights(
      agentIds.map((agentId) => (run.plan.weights === 'equal' ? {} : (registry.get(agentId) ?? {}))),
    );
    const progresses = splitPlan(run.plan, run.id, weights).map((shard, i) => {
      const agentId = agentIds[i] ?? '';
      registry.reserve(agentId, shard);
      return new ShardProgress(shard, agentId, registry.get(agentId)?.name ?? agentId);
    });
    const execution = new RunExecution(this.#services, headOf(run), progresses);
    log.info({ run: run.id }, `run starts on ${formatCounted(progresses.length, 'slot')}`);
    this.#follow(execution);
    void execution.begin();
  }

  #follow(execution: RunExecution): void {
    const { registry, log } = this.#services;
    const { id } = execution.head;
    this.#executions.set(id, execution);
    void execution.ended.then(() => {
      this.#executions.delete(id);
      if (execution.unstoredEnd !== undefined) this.#unstoredEnds.keep(execution.head, execution.unstoredEnd);
      for (const { agentId, shard } of execution.attempts) registry.release(agentId, shard);
      log.info({ run: id }, `run ${execution.state}`);
      this.#admit();
    });
  }

  /** Ends a run that waits. */
  async #dismiss(run: RunHead, state: 'aborted' | 'failed', reason: string): Promise<void> {
    this.#waiting.remove(run.id);
    await this.#services.runs.change(run.id, { state, reason, endedAt: new Date() });
    this.#services.events.emit('live-message', { kind: 'state', runId: run.id, state, reason });
    this.#admit();
  }

  #summaryOf(run: RunHead): RunSummary {
    const execution = this.#executions.get(run.id);
    return {
      id: run.id,
      state: execution?.state ?? 'queued',
      ...this.#waiting.find(run.id),
      target: run.plan.target,
      ...(run.plan.name === undefined ? {} : { name: run.plan.name }),
      createdAt: run.createdAt.toISOString(),
    };
  }

  #assertAccepting(): void {
    if (this.#isAccepting) return;
    throw new BroadsideError('unavailable', 'the coordinator is starting or stopping', {
      hint: 'try again in a few seconds',
    });
  }
}

function headOf({ id, plan, createdAt }: RunHead): RunHead {
  return { id, plan, createdAt };
}

function noSuchRun(runId: string): BroadsideError {
  return new BroadsideError('notFound', `there is no run ${runId.slice(0, 80)}`);
}
