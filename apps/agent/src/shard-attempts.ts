/**
 * The shard attempts that live on this agent: in a slot, or only as frames that the coordinator has not
 * acknowledged yet. Connects slots with the uplink; knows neither threads nor sockets.
 *
 *   job ─► slot prepares ─► ready ─► (probe ─► probed) ─► start ─► intervals … ─► result of the job
 *                                                                     └─► outbox ─► acknowledged
 */

import {
  type AgentMessage,
  counterOf,
  decodeTotals,
  type Fatal,
  formatCounted,
  LIMITS,
  type Shard,
  type ShardAttempt,
  type ShardResult,
  shardAttemptKey,
} from '@broadside/shared';
import type { Logger } from 'pino';
import type { PreflightFindings } from './machine/preflight.js';
import type { SlotEvents, SlotRun } from './slot/slot.js';
import type { Timers } from './timers.js';
import { IntervalOutbox } from './uplink/interval-outbox.js';
import { sendBundles } from './uplink/send-bundles.js';
import { shrinkOutboxes } from './uplink/shrink-outboxes.js';
import type { ShardOrder, Uplink } from './uplink/uplink.js';

export interface ShardAttemptsOptions {
  readonly runInSlot: (shard: Shard, events: SlotEvents) => SlotRun;
  /**
   * Checks the machine for a shard before anything of it is done.
   * @param waiting other shards that are here and have not begun.
   * @param slots how many shards are here, this one included.
   */
  readonly preflight: (shard: Shard, waiting: readonly Shard[], slots: number) => PreflightFindings;
  readonly uplink: Pick<Uplink, 'send' | 'sendFrame' | 'clockOffset'>;
  readonly logger: Logger;
  readonly timers: Timers;
  /** How long a prepared shard waits for its start beyond what its own probe may take. */
  readonly startTimeoutMs: number;
  /** How long the frames of an ended attempt wait for a coordinator that does not come back. */
  readonly keepEndedMs: number;
}

export const ATTEMPT_TIMEOUTS = {
  startTimeoutMs: LIMITS.readyTimeoutMs + 10_000,
  keepEndedMs: 600_000,
} as const;

/** As many as one greeting may list. */
const MAX_ATTEMPTS = LIMITS.maxShardsOfAgent;
const MAX_CALLED_OFF = 1_000;
/** Far below an interval, and above what ends of intervals on one machine differ by. */
const BUNDLE_WAIT_MS = 10;

type StartOrder = Extract<ShardOrder, { kind: 'start' }>;

interface LiveAttempt {
  readonly attempt: ShardAttempt;
  readonly shard: Shard;
  readonly outbox: IntervalOutbox;
  run: SlotRun | undefined;
  /** What was said before the start; said again after a broken connection, because it may be lost. */
  readonly said: AgentMessage[];
  hasStarted: boolean;
  isFenced: boolean;
  /** Requests that it had taken up in all, once it has ended. */
  sent: number | undefined;
  /** Gives up a shard that nobody starts; later forgets an attempt that nobody acknowledges. */
  cancelTimer: () => void;
}

export class ShardAttempts {
  readonly #options: ShardAttemptsOptions;
  readonly #live = new Map<string, LiveAttempt>();
  /** Stopped or fenced before their job was claimed, with the reason; the oldest are forgotten. */
  readonly #calledOff = new Map<string, string>();
  readonly #waiters = new Set<() => void>();
  #isDraining = false;
  /** Present while frames wait for those of the other slots. */
  #cancelPump: (() => void) | undefined;

  constructor(options: ShardAttemptsOptions) {
    this.#options = options;
  }

  list(): ShardAttempt[] {
    return [...this.#live.values()].map(({ attempt }) => attempt);
  }

  /**
   * Carries a shard out, from its preparation to its totals.
   * @throws Error when it could not be prepared, was called off, or was never started; the coordinator is told.
   */
  async carryOut(shard: Shard): Promise<ShardResult> {
    const live = this.#admit(shard);
    const log = this.#options.logger.child({
      run: shard.runId,
      shard: shard.shardIndex,
      attempt: shard.attempt,
    });
    const { refusals, warnings } = this.#checkMachine(live);
    const [refusal] = refusals;
    if (refusal !== undefined) {
      log.warn(`shard refused: ${refusal}`);
      return this.#refuse(live, { code: 'PREFLIGHT', message: refusal });
    }
    let run: SlotRun;
    try {
      run = this.#options.runInSlot(shard, this.#slotEvents(live, warnings));
    } catch (error) {
      return this.#refuse(live, {
        code: 'NO_SLOT',
        message: error instanceof Error ? error.message : String(error),
      });
    }
    live.run = run;
    let isGivenUp = false;
    const waitMs = this.#options.startTimeoutMs + shard.timeoutMs;
    live.cancelTimer = this.#options.timers.after(waitMs, () => {
      isGivenUp = true;
      run.stop();
    });
    log.info('shard taken');
    const end = await run.ended;
    live.cancelTimer();
    live.run = undefined;
    if (end.kind === 'refused') {
      log.warn({ code: end.fatal.code }, `shard refused: ${end.fatal.message}`);
      return this.#refuse(live, end.fatal);
    }
    if (isGivenUp) {
      const message = `no order to start came within ${Math.round(waitMs / 1_000)} s`;
      log.warn(message);
      return this.#refuse(live, { code: 'NO_START', message });
    }
    log.info(
      { fatal: end.result.fatal?.message, merged: live.outbox.mergedCount || undefined },
      'shard ended',
    );
    live.sent = sentIn(end.result);
    this.#afterEnd(live);
    return end.result;
  }

  /** A job that holds no valid shard: said once, as long as there is a connection. */
  refuseInvalid(attempt: ShardAttempt, fatal: Fatal): void {
    this.#options.uplink.send({ kind: 'refused', shard: attempt, fatal });
  }

  /** After a greeting: everything that may have been lost with the old connection is said and sent again. */
  resend(): void {
    const uplink = this.#options.uplink;
    if (this.#isDraining) uplink.send({ kind: 'draining' });
    for (const live of this.#live.values()) {
      live.outbox.rewind();
      if (!live.hasStarted) for (const message of live.said) uplink.send(message);
      this.#forgetIfDone(live);
    }
    this.pump();
  }

  /** Sends frames as long as the connection has room. */
  pump(): void {
    sendBundles(this.#outboxes, (message) => this.#options.uplink.sendFrame(message));
  }

  obey(order: ShardOrder): void {
    const live = this.#live.get(shardAttemptKey(order.shard));
    if (live === undefined) {
      if (order.kind === 'stop') this.#callOff(order.shard, order.reason);
      if (order.kind === 'fenced') this.#callOff(order.shard, 'the attempt is fenced');
      return;
    }
    switch (order.kind) {
      case 'probe':
        this.#probe(live);
        return;
      case 'start':
        this.#start(live, order);
        return;
      case 'stop':
        this.#stop(live, order.stopAtUs);
        return;
      case 'ack':
        live.outbox.acknowledge(order.number);
        this.pump();
        this.#forgetIfDone(live);
        return;
      case 'fenced':
        live.isFenced = true;
        live.run?.stop();
        this.#forgetIfDone(live);
    }
  }

  /** Takes no more shards and stops the load of those that run; their intervals and results still go out. */
  drain(): void {
    this.#isDraining = true;
    this.#options.uplink.send({ kind: 'draining' });
    for (const { run } of this.#live.values()) run?.stop();
  }

  /** Stops the load of all shards; what they did is delivered as always. */
  stopAll(reason: string): void {
    const running = [...this.#live.values()].filter(({ run }) => run !== undefined);
    if (running.length > 0)
      this.#options.logger.warn(`stopping ${formatCounted(running.length, 'shard')}: ${reason}`);
    for (const { run } of running) run?.stop();
  }

  /** Resolves when no attempt is left, or when `timeoutMs` is over. */
  settled(timeoutMs: number): Promise<void> {
    if (this.#live.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        cancel();
        this.#waiters.delete(check);
        resolve();
      };
      const check = (): void => {
        if (this.#live.size === 0) done();
      };
      const cancel = this.#options.timers.after(timeoutMs, done);
      this.#waiters.add(check);
    });
  }

  /** Forgets everything; no timer is left. */
  close(): void {
    this.#cancelPump?.();
    for (const live of this.#live.values()) live.cancelTimer();
    this.#live.clear();
    for (const check of this.#waiters) check();
  }

  get #outboxes(): IntervalOutbox[] {
    return [...this.#live.values()].map(({ outbox }) => outbox);
  }

  /** The slots of an agent end their intervals within a moment: what comes then goes out as one message. */
  #pumpSoon(): void {
    if (this.#live.size === 1) {
      this.pump();
      return;
    }
    if (this.#cancelPump !== undefined) return;
    this.#cancelPump = this.#options.timers.after(BUNDLE_WAIT_MS, () => {
      this.#cancelPump = undefined;
      this.pump();
    });
  }

  #checkMachine(live: LiveAttempt): PreflightFindings {
    const others = [...this.#live.values()].filter((each) => each !== live && each.run !== undefined);
    const waiting = others.filter((each) => !each.hasStarted).map((each) => each.shard);
    return this.#options.preflight(live.shard, waiting, others.length + 1);
  }

  #admit(shard: Shard): LiveAttempt {
    const { runId, shardIndex, attempt: number } = shard;
    const attempt = { runId, shardIndex, attempt: number };
    const key = shardAttemptKey(attempt);
    const calledOff = this.#calledOff.get(key);
    if (calledOff !== undefined) throw new Error(`called off before it began: ${calledOff}`);
    if (this.#live.has(key)) throw new Error('this attempt is on this agent already');
    if (this.#live.size >= MAX_ATTEMPTS) this.#forgetOldestEnded();
    const live: LiveAttempt = {
      attempt,
      shard,
      outbox: new IntervalOutbox(),
      run: undefined,
      said: [],
      hasStarted: false,
      isFenced: false,
      sent: undefined,
      cancelTimer: () => undefined,
    };
    this.#live.set(key, live);
    if (this.#isDraining) {
      return this.#refuse(live, {
        code: 'AGENT_DRAINING',
        message: 'the agent is leaving and takes no more shards',
      });
    }
    return live;
  }

  #slotEvents(live: LiveAttempt, warnings: readonly string[]): SlotEvents {
    const doubts = warnings.length === 0 ? {} : { warnings: [...warnings] };
    return {
      onReady: () => this.#say(live, { kind: 'ready', shard: live.attempt, ...doubts }),
      onProbed: (result) => this.#say(live, { kind: 'probed', shard: live.attempt, result }),
      onInterval: (frame) => {
        if (live.isFenced) return;
        live.outbox.add(frame);
        shrinkOutboxes(this.#outboxes);
        this.#pumpSoon();
      },
    };
  }

  /** A coordinator that asks again was away, or not as far, when it was told the result. */
  #probe(live: LiveAttempt): void {
    const probed = live.said.find(({ kind }) => kind === 'probed');
    if (probed === undefined) live.run?.probe();
    else this.#options.uplink.send(probed);
  }

  #start(live: LiveAttempt, { startAtUs, fromUs, referenceBytes }: StartOrder): void {
    if (live.hasStarted) return;
    live.hasStarted = true;
    live.cancelTimer();
    // Without a single round trip the clocks are taken to agree; the coordinator sees the missing estimate.
    const offsetUs = this.#options.uplink.clockOffset?.offsetUs ?? 0;
    const fromHereUs = fromUs === undefined ? undefined : fromUs - offsetUs;
    live.run?.start(startAtUs - offsetUs, referenceBytes, fromHereUs);
  }

  #stop(live: LiveAttempt, stopAtUs: number | undefined): void {
    const offsetUs = this.#options.uplink.clockOffset?.offsetUs ?? 0;
    // Before the start there is nothing that could end together.
    const isAtOnce = stopAtUs === undefined || !live.hasStarted;
    live.run?.stop(isAtOnce ? undefined : stopAtUs - offsetUs);
  }

  #say(live: LiveAttempt, message: AgentMessage): boolean {
    live.said.push(message);
    return this.#options.uplink.send(message);
  }

  /** Tells the coordinator and fails the job. What was measured until then is of no use to anybody. */
  #refuse(live: LiveAttempt, fatal: Fatal): never {
    live.cancelTimer();
    const wasHeard = this.#say(live, { kind: 'refused', shard: live.attempt, fatal });
    if (wasHeard) this.#forget(live);
    else this.#forgetLater(live);
    throw new Error(`${fatal.message} (${fatal.code})`);
  }

  #afterEnd(live: LiveAttempt): void {
    this.#forgetLater(live);
    this.#forgetIfDone(live);
  }

  #forgetLater(live: LiveAttempt): void {
    live.cancelTimer = this.#options.timers.after(this.#options.keepEndedMs, () => {
      this.#options.logger.error(
        { ...live.attempt, frames: live.outbox.size },
        'the coordinator did not acknowledge these intervals; they are given up',
      );
      this.#forget(live);
    });
  }

  /** An attempt is done when it has left its slot and the coordinator has, or wants, nothing more of it. */
  #forgetIfDone(live: LiveAttempt): void {
    if (live.run !== undefined || (!live.isFenced && live.outbox.size > 0)) return;
    // What nobody counts is at least told; without a connection it stays unknown.
    if (live.isFenced && live.sent !== undefined) {
      this.#options.uplink.send({ kind: 'abandoned', shard: live.attempt, sent: live.sent });
    }
    this.#forget(live);
  }

  #forget(live: LiveAttempt): void {
    live.cancelTimer();
    this.#live.delete(shardAttemptKey(live.attempt));
    for (const check of this.#waiters) check();
  }

  #forgetOldestEnded(): void {
    for (const live of this.#live.values()) {
      if (live.run !== undefined) continue;
      this.#options.logger.error(
        { ...live.attempt },
        'too many unacknowledged attempts; the oldest is given up',
      );
      this.#forget(live);
      return;
    }
  }

  #callOff(attempt: ShardAttempt, reason: string): void {
    this.#calledOff.set(shardAttemptKey(attempt), reason);
    const [oldest] = this.#calledOff.keys();
    if (this.#calledOff.size > MAX_CALLED_OFF && oldest !== undefined) this.#calledOff.delete(oldest);
  }
}

/** Requests that the attempt had taken up, by its own totals. */
function sentIn({ totals }: ShardResult): number {
  return counterOf(decodeTotals(Buffer.from(totals, 'base64')).counters, 'sent');
}
