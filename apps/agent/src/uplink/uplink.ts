/**
 * Keeps the agent connected to its coordinator: first greeting, heartbeat, clock probes, reconnecting. It
 * decides nothing about shards: it hands on what was said and carries what it is given.
 */

import type { Clock } from '@broadside/engine/host';
import {
  type AgentMessage,
  BroadsideError,
  type CoordinatorMessage,
  LIMITS,
  type ShardAttempt,
} from '@broadside/shared';
import type { Logger } from 'pino';
import type { AgentOptions } from '../agent-options.js';
import { backoffMs, refusedDelayMs } from './backoff.js';
import { type ClockOffset, ClockOffsetEstimator, isAbout } from './clock-offset.js';
import { type ConnectFailure, failureOfError, isTokenRefusal, standingFailure } from './connect-failure.js';
import {
  CoordinatorConnection,
  isRejection,
  type LaterMessage,
  type Welcome,
} from './coordinator-connection.js';
import { OutageTeller } from './outage-teller.js';
import { isProbeDue } from './probe-due.js';

export type { Welcome } from './coordinator-connection.js';
export type Hello = Extract<AgentMessage, { kind: 'hello' }>;
/** What the coordinator says about shards. */
export type ShardOrder = Exclude<
  CoordinatorMessage,
  { kind: 'welcome' | 'rejected' | 'clock-reply' | 'acks' | 'halt' }
>;
type ClockReply = Extract<CoordinatorMessage, { kind: 'clock-reply' }>;

export interface UplinkEvents {
  /** A greeting was accepted: the first, or one after a broken connection. */
  onWelcome(welcome: Welcome): void;
  onOrder(order: ShardOrder): void;
  /** All load is to end, whatever else was said. */
  onHalt(reason: string): void;
  /** A connection, or an attempt at one, has ended. */
  onAway(): void;
  /** Frames may be sent again, because the connection's buffer has emptied. */
  onRoom(): void;
  /** The coordinator refuses this agent although it had accepted it before; the uplink has given up. */
  onRejected(error: BroadsideError): void;
}

export interface UplinkOptions {
  /** `http://host:port` or `https://host:port`. */
  readonly coordinatorUrl: URL;
  readonly joinToken: string;
  readonly trust: AgentOptions['trust'];
  /** What a greeting says, without the attempts. */
  readonly greeting: () => Omit<Hello, 'attempts'>;
  /** Attempts that are alive at the moment of a greeting. */
  readonly attempts: () => ShardAttempt[];
  readonly freeSlots: () => number;
  readonly events: UplinkEvents;
  readonly clock: Clock;
  /** 0 ≤ number < 1. */
  readonly random: () => number;
  readonly logger: Logger;
  /** How long the first connection is tried. */
  readonly connectTimeoutMs: number;
}

const GREETING_TIMEOUT_MS = 5_000;
/** Round trips right after the greeting, one after the other. */
const GREETING_PROBES = 8;
/** How often it is looked whether another one is due. */
const CHECK_EVERY_MS = 2_000;
/** Longer than an interval: an agent that sends its frames need say nothing else to count as alive. */
const HEARTBEAT_SLACK = 1.2;
/** A coordinator that says nothing for this long, although probes ask it to, is behind a dead connection. */
const SILENCE_US = 3 * LIMITS.agentSilenceMs * 1_000;
/** A connection that held this long ends a row of failures. */
const STABLE_AFTER_US = 5_000_000;

export class Uplink {
  readonly #options: UplinkOptions;
  readonly #offset = new ClockOffsetEstimator();
  /** Of the connection before, until this one has had a round trip. */
  #earlierOffset: ClockOffset | undefined;
  #connection: CoordinatorConnection | undefined;
  #isClosed = false;
  #timers: NodeJS.Timeout[] = [];
  /** One of them: due when nothing has been said for a while. */
  #heartbeat: NodeJS.Timeout | undefined;
  /** As the coordinator knows it by this connection. */
  #toldOffset: ClockOffset | undefined;
  #wake: (() => void) | undefined;
  #heardAtUs = 0;
  /** The newest probe, whether its reply is still to come, and how many more follow it at once. */
  #probeSentUs = 0;
  #isProbing = false;
  #probesLeft = 0;
  #loop: Promise<void> = Promise.resolve();

  constructor(options: UplinkOptions) {
    this.#options = options;
  }

  get isConnected(): boolean {
    return this.#connection?.isGreeted === true;
  }

  /** Coordinator clock minus agent clock, as well as it is known now. */
  get clockOffset(): ClockOffset | undefined {
    return this.#offset.estimate(this.#options.clock.nowUs()) ?? this.#earlierOffset;
  }

  /** Now on the coordinator's clock; undefined before the first round trip. */
  get coordinatorUs(): number | undefined {
    const offset = this.clockOffset;
    return offset === undefined ? undefined : this.#options.clock.nowUs() + offset.offsetUs;
  }

  /**
   * Connects for the first time, and from then on reconnects until `close`.
   * @throws BroadsideError when the coordinator cannot be reached in time or does not accept this agent.
   */
  connect(): Promise<Welcome> {
    return new Promise((resolve, reject) => {
      this.#loop = this.#keepConnected(resolve, reject);
    });
  }

  /** Sends a message now; false when there is no greeted connection, and then nothing was sent. */
  send(message: AgentMessage): boolean {
    const connection = this.#connection;
    if (connection?.isGreeted !== true) return false;
    connection.send(JSON.stringify(message));
    this.#heartbeat?.refresh();
    return true;
  }

  /** Sends an interval frame; false when there is no connection or its buffer is full. */
  sendFrame(bytes: Uint8Array): boolean {
    const connection = this.#connection;
    if (connection?.hasRoom !== true) return false;
    connection.send(bytes, () => this.#options.events.onRoom());
    this.#heartbeat?.refresh();
    return true;
  }

  /** Ends the connection; when it resolves, nothing of the uplink keeps the process alive. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#connection?.close();
    this.#wake?.();
    await this.#loop;
  }

  async #keepConnected(onFirst: (first: Welcome) => void, onGivenUp: (error: Error) => void): Promise<void> {
    const { clock, connectTimeoutMs, random, events, logger } = this.#options;
    const deadlineUs = clock.nowUs() + connectTimeoutMs * 1_000;
    let failures = 0;
    let isFirst = true;
    let earlier: ConnectFailure | undefined;
    const outage = new OutageTeller({ tell: (line) => logger.warn(line), nowUs: () => clock.nowUs() });
    while (!this.#isClosed) {
      let greetedAtUs: number | undefined;
      const leftMs = isFirst ? Math.max((deadlineUs - clock.nowUs()) / 1_000, 1) : GREETING_TIMEOUT_MS;
      const latest = await this.#connectOnce(Math.min(leftMs, GREETING_TIMEOUT_MS), (welcome) => {
        greetedAtUs = clock.nowUs();
        outage.back('the coordinator');
        if (isFirst) onFirst(welcome);
        isFirst = false;
      });
      if (latest === undefined) break;
      const failure = standingFailure(latest, earlier);
      earlier = failure;
      if (isFirst && (!failure.isRetryable || clock.nowUs() >= deadlineUs)) {
        onGivenUp(failure.error);
        return;
      }
      if (isRejection(failure)) {
        events.onRejected(failure.error);
        return;
      }
      const isRefused = isTokenRefusal(failure);
      outage.lost(failure.error.message, isRefused);
      const wasStable = greetedAtUs !== undefined && clock.nowUs() - greetedAtUs > STABLE_AFTER_US;
      failures = wasStable ? 1 : failures + 1;
      const delayMs = isRefused ? refusedDelayMs(random) : backoffMs(failures - 1, random);
      await this.#pause(delayMs, isFirst ? deadlineUs : undefined);
    }
    // Nobody waits any more unless it was closed while the first connection was being tried.
    onGivenUp(new BroadsideError('unavailable', 'the agent was closed while it was connecting'));
  }

  /** One connection to its end; undefined when it ended because of `close`. Never rejects. */
  #connectOnce(
    timeoutMs: number,
    onWelcome: (welcome: Welcome) => void,
  ): Promise<ConnectFailure | undefined> {
    return new Promise((resolve) => {
      this.#connection = new CoordinatorConnection({
        coordinatorUrl: this.#options.coordinatorUrl,
        joinToken: this.#options.joinToken,
        trust: this.#options.trust,
        greetingTimeoutMs: timeoutMs,
        hello: () => JSON.stringify({ ...this.#options.greeting(), attempts: this.#options.attempts() }),
        onWelcome: (welcome) => {
          this.#begin(welcome);
          onWelcome(welcome);
          this.#options.events.onWelcome(welcome);
        },
        onMessage: (message) => this.#receive(message),
        onClosed: (failure) => {
          this.#connection = undefined;
          for (const timer of this.#timers) clearInterval(timer);
          this.#timers = [];
          this.#options.events.onAway();
          resolve(failure);
        },
      });
    });
  }

  /** What runs on every greeted connection: heartbeat, clock probes, and the watch for a dead one. */
  #begin(welcome: Welcome): void {
    const { clock } = this.#options;
    this.#earlierOffset = this.clockOffset;
    this.#offset.clear();
    this.#heardAtUs = clock.nowUs();
    this.#probesLeft = GREETING_PROBES - 1;
    this.#probe();
    this.#toldOffset = undefined;
    const beat = (): boolean => this.send({ kind: 'heartbeat', freeSlots: this.#options.freeSlots() });
    this.#heartbeat = setInterval(beat, welcome.heartbeatMs * HEARTBEAT_SLACK);
    this.#timers = [
      this.#heartbeat,
      setInterval(() => {
        if (isProbeDue(clock.nowUs(), { heardAtUs: this.#heardAtUs, probedAtUs: this.#probeSentUs }))
          this.#probe();
        this.#endIfSilent();
      }, CHECK_EVERY_MS),
    ];
    beat();
  }

  #probe(): void {
    this.#probeSentUs = this.#options.clock.nowUs();
    this.#isProbing = true;
    this.send({ kind: 'clock-probe', sentUs: this.#probeSentUs });
  }

  #receive(message: LaterMessage): void {
    this.#heardAtUs = this.#options.clock.nowUs();
    const { events } = this.#options;
    if (message.kind === 'clock-reply') this.#takeClockReply(message);
    else if (message.kind === 'halt') events.onHalt(message.reason);
    else if (message.kind !== 'acks') events.onOrder(message);
    else for (const ack of message.acks) events.onOrder({ kind: 'ack', ...ack });
  }

  #takeClockReply({ sentUs, coordinatorUs }: ClockReply): void {
    // A reply to an older probe, or one that was never sent, says nothing about a round trip.
    if (!this.#isProbing || sentUs !== this.#probeSentUs) return;
    this.#isProbing = false;
    this.#offset.add({ sentUs, coordinatorUs, receivedUs: this.#heardAtUs });
    if (this.#probesLeft > 0) {
      this.#probesLeft--;
      this.#probe();
      return;
    }
    const offset = this.clockOffset;
    if (offset === undefined || isAbout(offset, this.#toldOffset)) return;
    if (this.send({ kind: 'clock-offset', ...offset })) this.#toldOffset = offset;
  }

  /** Looked at when everything that has arrived is read: after a freeze of this process, a timer comes before it. */
  #endIfSilent(): void {
    const [nowUs, connection] = [this.#options.clock.nowUs(), this.#connection];
    setImmediate(() => {
      if (nowUs - this.#heardAtUs < SILENCE_US || connection !== this.#connection) return;
      const silence = new Error(`nothing was heard from it for ${SILENCE_US / 1_000_000} s`);
      connection?.fail(failureOfError(this.#options.coordinatorUrl.origin, silence));
    });
  }

  /** Waits before the next attempt, at most until `deadlineUs`, or until `close`. */
  #pause(delayMs: number, deadlineUs: number | undefined): Promise<void> {
    const leftMs = deadlineUs === undefined ? delayMs : (deadlineUs - this.#options.clock.nowUs()) / 1_000;
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.max(Math.min(delayMs, leftMs), 0));
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
