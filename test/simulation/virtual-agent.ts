// The agent's own handling of attempts and frames on virtual time, with engines that only keep books.

import { ATTEMPT_TIMEOUTS, backoffMs, LonelyLoad, ShardAttempts } from '@broadside/agent/core';
import {
  type AgentMessage,
  BROADSIDE_VERSION,
  coordinatorMessageSchema,
  LIMITS,
  PROTOCOL_VERSION,
  type Shard,
  shardAttemptKey,
} from '@broadside/shared';
import { pino } from 'pino';
import type { Random } from '../../libs/shared/src/testing/random.js';
import type { VirtualCoordinator } from './virtual-coordinator.js';
import { type AttemptTruth, VirtualEngine } from './virtual-engine.js';
import { VirtualLink, type Way } from './virtual-link.js';
import type { VirtualQueue } from './virtual-queue.js';
import { ProcessTimers, type VirtualTime } from './virtual-time.js';

const PROBE_MS = 2_000;
const SILENCE_MS = 3 * LIMITS.agentSilenceMs;
/** As many frames as a socket's buffer holds. */
const MAX_UNDER_WAY = 6;
const DRAIN_TIMEOUT_MS = 15_000;

/** Room for rests beside the slots, as a real agent has it. */
function extraSlotsOf(slots: number): number {
  return slots * LIMITS.extraPerSlot;
}

export interface VirtualAgentParts {
  readonly id: string;
  readonly slots: number;
  readonly time: VirtualTime;
  readonly random: Random;
  readonly queue: VirtualQueue;
  /** The coordinator that is there now. */
  readonly coordinator: () => VirtualCoordinator | undefined;
  readonly truths: Map<string, AttemptTruth>;
}

export class VirtualAgent {
  readonly id: string;
  readonly timers: ProcessTimers;
  readonly way: Way = { isCut: false, delayMs: 20, echo: 0 };
  /** Frames that it has sent, for whoever forges. */
  readonly frames: Uint8Array[] = [];
  readonly #parts: VirtualAgentParts;
  readonly #attempts: ShardAttempts;
  readonly #lonely: LonelyLoad;
  readonly #consumer: { pause(): void };
  #link: VirtualLink | undefined;
  #isGreeted = false;
  #heardAtMs = 0;
  #failures = 0;
  #busy = 0;
  #isLeaving = false;

  constructor(parts: VirtualAgentParts) {
    const { id, slots, time, queue } = parts;
    this.id = id;
    this.#parts = parts;
    this.timers = new ProcessTimers(time);
    this.#attempts = new ShardAttempts({
      runInSlot: (shard, events) => {
        if (this.#busy >= slots + extraSlotsOf(slots)) throw new Error('no slot is free');
        this.#busy++;
        const onLeft = (): void => {
          this.#busy--;
        };
        const { random } = parts;
        return new VirtualEngine({
          time,
          random,
          shard,
          events,
          onLeft,
          timers: this.timers,
          truth: this.#truthOf(shard),
        });
      },
      preflight: () => ({ refusals: [], remarks: [], warnings: [] }),
      uplink: {
        send: (message) => this.#send(message),
        sendFrame: (bytes) => this.#sendFrame(bytes),
        clockOffset: { offsetUs: 0, uncertaintyUs: 1_000 },
      },
      logger: pino({ level: 'silent' }),
      timers: this.timers,
      ...ATTEMPT_TIMEOUTS,
    });
    this.#lonely = new LonelyLoad(this.timers, (reason) => this.#attempts.stopAll(reason));
    this.#consumer = queue.consume({
      agentId: id,
      slots: slots + extraSlotsOf(slots),
      timers: this.timers,
      carryOut: (shard) => this.#attempts.carryOut(shard),
    });
    this.#connect();
    this.#beat();
  }

  get slots(): number {
    return this.#parts.slots;
  }

  get isGone(): boolean {
    return this.timers.isDead;
  }

  /** @param isHostGone nobody closes its socket. */
  kill(isHostGone: boolean): void {
    this.timers.die();
    if (isHostGone) this.way.isCut = true;
    this.#link?.close();
  }

  cutSocket(): void {
    this.#link?.close();
  }

  heal(): void {
    this.way.isCut = false;
    this.#link?.heal();
  }

  /** As SIGTERM: it leaves when everything is delivered, or after a while. */
  drain(): void {
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    this.#attempts.drain();
    this.#consumer.pause();
    void this.#attempts.settled(DRAIN_TIMEOUT_MS).then(() => this.timers.after(50, () => this.kill(false)));
  }

  #truthOf(shard: Shard): AttemptTruth {
    const key = shardAttemptKey(shard);
    const truth = this.#parts.truths.get(key) ?? { sent: 0, completed: 0, isCutShort: false };
    this.#parts.truths.set(key, truth);
    return truth;
  }

  #connect(): void {
    const { time, random, coordinator } = this.#parts;
    const server = coordinator();
    if (server?.isOpen !== true || this.way.isCut) {
      this.#connectLater();
      return;
    }
    const link: VirtualLink = new VirtualLink({
      time,
      random,
      way: this.way,
      ends: [
        {
          receive: (payload) => this.timers.run(() => this.#receive(payload)),
          closed: () => this.#onClosed(link),
        },
        server.accept(() => link),
      ],
    });
    this.#link = link;
    this.#heardAtMs = time.nowMs;
    link.send(1, JSON.stringify(this.#hello()));
  }

  #connectLater(): void {
    this.#lonely.coordinatorIsAway();
    const delayMs = backoffMs(this.#failures++, () => this.#parts.random.next());
    this.timers.after(delayMs, () => this.#connect());
  }

  #onClosed(link: VirtualLink): void {
    this.timers.run(() => {
      if (this.#link !== link) return;
      this.#link = undefined;
      this.#isGreeted = false;
      this.#connectLater();
    });
  }

  #hello(): AgentMessage {
    const machine = { hostname: 'h', cpus: 1, cpuModel: 'c', memoryBytes: 1, os: 'o', arch: 'a', node: 'n' };
    return {
      kind: 'hello',
      protocol: PROTOCOL_VERSION,
      agentId: this.id,
      name: this.id,
      version: BROADSIDE_VERSION,
      slots: this.#parts.slots,
      extraSlots: extraSlotsOf(this.#parts.slots),
      machine,
      attempts: this.#attempts.list(),
    };
  }

  #beat(): void {
    const { time, slots } = this.#parts;
    let beats = 0;
    const beat = (): void => {
      this.timers.after(LIMITS.heartbeatMs, () => {
        this.#send({ kind: 'heartbeat', freeSlots: Math.max(slots - this.#busy, 0) });
        if (++beats % (PROBE_MS / LIMITS.heartbeatMs) === 0) {
          if (this.#link !== undefined && time.nowMs - this.#heardAtMs > SILENCE_MS) this.#giveUpLink();
          this.#send({ kind: 'clock-probe', sentUs: time.clock.epochUs() });
        }
        beat();
      });
    };
    beat();
  }

  /** As `terminate`: this side knows at once. */
  #giveUpLink(): void {
    const link = this.#link;
    this.#link = undefined;
    this.#isGreeted = false;
    link?.close();
    this.#connectLater();
  }

  #receive(payload: string | Uint8Array): void {
    if (typeof payload !== 'string') return;
    this.#heardAtMs = this.#parts.time.nowMs;
    const message = coordinatorMessageSchema.parse(JSON.parse(payload));
    if (message.kind === 'welcome') {
      this.#isGreeted = true;
      this.#failures = 0;
      this.#lonely.coordinatorIsThere();
      this.#attempts.resend();
    } else if (message.kind === 'halt') this.#attempts.stopAll(message.reason);
    else if (message.kind === 'acks') {
      for (const ack of message.acks) this.#attempts.obey({ kind: 'ack', ...ack });
    } else if (message.kind !== 'rejected' && message.kind !== 'clock-reply') this.#attempts.obey(message);
    this.#attempts.pump();
  }

  #send(message: AgentMessage): boolean {
    if (!this.#isGreeted || this.#link === undefined || this.#link.isClosed) return false;
    this.#link.send(1, JSON.stringify(message));
    return true;
  }

  #sendFrame(bytes: Uint8Array): boolean {
    if (!this.#isGreeted || this.#link === undefined || this.#link.isClosed) return false;
    if (this.#link.underWay >= MAX_UNDER_WAY) return false;
    if (this.frames.length < 100) this.frames.push(bytes);
    this.#link.send(1, bytes);
    return true;
  }
}
