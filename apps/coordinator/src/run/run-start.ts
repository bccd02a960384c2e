/** The way of a run from its first ready slot to its start instant, and of later attempts to theirs. */
import { LIMITS, loadDurationMs, type ProbeResult, type ShardAttempt } from '@broadside/shared';
import { startInstantUs, stopInstantUs } from '../shard/start-barrier.js';
import type { RunControl, RunParts } from './run-parts.js';
import { isSocketError } from './shard-ending.js';
import { namesOf } from './shard-progress.js';

/** The agent's own timeout ends the probe; this is for an agent that says nothing. */
const PROBE_MARGIN_MS = 10_000;
/** How often a start instant that could not be stored in time is named again. */
const MAX_START_TRIES = 6;
/** Agents need this long at most to come back to a restarted coordinator, and to say what they have. */
const RETURN_MS = 15_000;

export class RunStart {
  readonly #parts: RunParts;
  readonly #control: RunControl;

  constructor(parts: RunParts, control: RunControl) {
    this.#parts = parts;
    this.#control = control;
  }

  /** From now on every shard has its time to be ready. */
  awaitReady(): void {
    this.#parts.timers.arm('ready', LIMITS.readyTimeoutMs, () => {
      const late = this.#parts.shards.current.filter((progress) => !progress.isReady);
      this.#control.fail(`not ready within ${LIMITS.readyTimeoutMs / 1_000} s: ${namesOf(late)}`);
    });
  }

  /** @param warnings what the agent finds doubtful about its machine. */
  ready(agentId: string, attempt: ShardAttempt, warnings: readonly string[]): void {
    const { shards, agents, timers, barrier, orders, reissue } = this.#parts;
    const progress = shards.find(agentId, attempt);
    if (progress === undefined) return;
    agents.warn(agentId, warnings);
    progress.isReady = true;
    timers.disarm(`ready ${progress.key}`);
    if (barrier.isOpen && !orders.isStopped) {
      if (progress.hasBegun) this.#control.sayOrder(progress);
      else reissue.begin(progress);
      return;
    }
    const step = barrier.ready(attempt.shardIndex);
    // Also of one that replaced another while the probe was under way: that has a time of its own.
    if (barrier.areAllReady) timers.disarm('ready');
    if (orders.isStopped || step === 'wait') this.#control.sayOrder(progress);
    else if (step === 'probe') this.#sendProbe();
    else this.#start();
  }

  probed(agentId: string, attempt: ShardAttempt, result: ProbeResult): void {
    const { shards, barrier, timers, orders, reasons, head } = this.#parts;
    if (shards.find(agentId, attempt)?.shard.probe !== true || barrier.isOpen) return;
    timers.disarm('probe');
    if (orders.isStopped) return;
    if (!result.ok && head.plan.onSocketError === 'stop' && isSocketError(result.fatal)) {
      reasons.probeFatal = result.fatal;
      this.#control.fail(result.fatal.message);
      return;
    }
    if (result.ok && head.plan.checkLength) orders.setReference(result.bodyBytes);
    if (barrier.probed() === 'start') this.#start();
  }

  /** For shards that never say that they have ended. @param sinceMs how long the load has been going on. */
  armLoadTimer(sinceMs: number): void {
    const { head, timers } = this.#parts;
    const durationMs = loadDurationMs(head.plan);
    if (durationMs === undefined) return;
    const leftMs = LIMITS.startDelayMs + durationMs + head.plan.timeoutMs - sinceMs;
    const delayMs = sinceMs > 0 ? Math.max(leftMs, RETURN_MS) : leftMs;
    timers.arm('load', delayMs, () => this.#control.endLoad());
  }

  #sendProbe(): void {
    const { timers, shards, head } = this.#parts;
    const first = shards.latest(0);
    if (first === undefined) return;
    this.#control.sayOrder(first);
    timers.arm('probe', head.plan.timeoutMs + PROBE_MARGIN_MS, () => {
      this.#control.fail(`${first.name} gave no result of the probe`);
    });
  }

  /**
   * Names the start instant. Where a restarted coordinator could go on with the run it is stored before it is
   * told, or the run would be taken for one that never began; an instant that was stored too late is named again.
   */
  #start(tries = 0): void {
    const { services, timers, agents, journal, orders } = this.#parts;
    const { clock, canResume } = services;
    timers.disarm('probe');
    const uncertaintiesUs = agents.facts().map((agent) => agent.clockUncertaintyUs);
    const delayMs = LIMITS.startDelayMs * 2 ** tries;
    const startAtUs = startInstantUs(clock.epochUs(), delayMs, uncertaintiesUs);
    if (!canResume) {
      this.#startAt(startAtUs);
      return;
    }
    this.#control.saveNotes({ startAtUs });
    void journal.settled().then(() => {
      if (orders.isStopped || this.#control.isClosing) return;
      const isLate = clock.epochUs() + (delayMs * 1_000) / 2 > startAtUs;
      if (isLate && tries < MAX_START_TRIES) this.#start(tries + 1);
      else this.#startAt(startAtUs);
    });
  }

  #startAt(startAtUs: number): void {
    const { orders, shards, books, journal, reissue } = this.#parts;
    orders.start(startAtUs);
    for (const progress of shards.current) {
      if (progress.isFenced) continue;
      progress.hasBegun = true;
      if (progress.shard.attempt > 1) books.open(progress);
      this.#control.sayOrder(progress);
    }
    journal.move('running', { startedAt: new Date(startAtUs / 1_000) });
    this.#control.saveNotes();
    this.armLoadTimer(0);
    // Whoever was lost while the instant was being stored.
    reissue.useFreeSlots();
  }
}

/** When all agents are to end a load that is under way; undefined: at once, because there is nobody to wait for. */
export function stopInstantOf({
  services,
  agents,
  orders,
}: Pick<RunParts, 'services' | 'agents' | 'orders'>) {
  const nowUs = services.clock.epochUs();
  const isUnderWay = orders.startAtUs !== undefined && orders.startAtUs <= nowUs;
  if (!isUnderWay || agents.count < 2) return undefined;
  return stopInstantUs(
    nowUs,
    agents.facts().map((agent) => agent.clockUncertaintyUs),
  );
}
