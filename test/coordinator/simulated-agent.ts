/**
 * An agent that sends no load: it speaks the real protocol over a real socket and takes real shards from the
 * real queue, and makes up what they saw. Its shards end as fast as they are told to start.
 */

import type { Coordinator } from '@broadside/coordinator';
import {
  type AgentMessage,
  addCounters,
  COUNTER,
  type CoordinatorMessage,
  coordinatorMessageSchema,
  encodeInterval,
  encodeTotals,
  type Fatal,
  GAUGE,
  GAUGE_NAMES,
  HISTOGRAM,
  HISTOGRAM_NAMES,
  Histogram,
  type Interval,
  newCounters,
  type Observations,
  PROTOCOL_VERSION,
  type ProbeResult,
  ROUTES,
  type Shard,
  type ShardAttempt,
  type ShardResult,
  shardAttemptKey,
  shardOrderSchema,
  shardQueueOf,
  shardSchema,
  signedShardSchema,
} from '@broadside/shared';
import { WebSocket } from 'ws';

export interface SimulatedAgentOptions {
  readonly agentId: string;
  readonly slots: number;
  /** Slices that each shard's requests are spread over. */
  readonly intervals?: number;
  /** What the probe finds. */
  readonly probe?: ProbeResult;
  /** The shard goes on after its first interval only when this resolves. */
  readonly holdAfterFirst?: Promise<void>;
  /** Numbers of intervals that get lost on the way. */
  readonly drops?: readonly number[];
  /** All intervals of a shard but the first come in the wrong order. */
  readonly isReversed?: boolean;
  /** Before each later interval of a shard it waits this long. */
  readonly pauseMs?: number;
  /** So many requests of the first interval have no outcome in it. */
  readonly inFlightAfterFirst?: number;
  /** It claims shards and says nothing more of them. */
  readonly neverReady?: boolean;
  /** It cannot prepare any shard. */
  readonly refusesWith?: Fatal;
  /** The job of every shard fails as soon as it is started. */
  readonly failsWith?: string;
  /** Every frame is sent twice. */
  readonly sendsTwice?: boolean;
}

const REPLY_BYTES = 250;
const LATENCY_US = 1_000;

export class SimulatedAgent {
  /** Messages of the coordinator in the order of their arrival. */
  readonly received: CoordinatorMessage[] = [];
  readonly shards: Shard[] = [];
  /** Highest acknowledged interval by attempt key. */
  readonly acknowledged = new Map<string, number>();
  /** Every frame that went out. */
  readonly sentFrames: Uint8Array[] = [];
  readonly #sent = new Map<string, number>();
  readonly #coordinator: Coordinator;
  readonly #options: SimulatedAgentOptions;
  readonly #waiters: {
    readonly wants: (message: CoordinatorMessage) => boolean;
    readonly give: (message: CoordinatorMessage) => void;
  }[] = [];
  #socket: WebSocket | undefined;
  #heartbeat: NodeJS.Timeout | undefined;
  #consumer: { close(force?: boolean): Promise<void> } | undefined;

  #sayDrained: () => void = () => undefined;
  readonly #drained = new Promise<void>((resolve) => {
    this.#sayDrained = resolve;
  });

  private constructor(coordinator: Coordinator, options: SimulatedAgentOptions) {
    this.#coordinator = coordinator;
    this.#options = options;
  }

  static async join(coordinator: Coordinator, options: SimulatedAgentOptions): Promise<SimulatedAgent> {
    const agent = new SimulatedAgent(coordinator, options);
    await agent.connect();
    const wiring = coordinator.agentQueue;
    if (wiring === undefined) throw new Error('the simulated agent wants an embedded queue');
    agent.#consumer = wiring.createConsumer<unknown, ShardResult>(
      shardQueueOf(options.agentId),
      // Whether the signature is right, the tests of real agents tell.
      ({ data }) => agent.#carryOut(shardIn(data)),
      { concurrency: options.slots },
    );
    return agent;
  }

  async connect(attempts: readonly ShardAttempt[] = []): Promise<void> {
    const socket = new WebSocket(`${this.#coordinator.url.replace('http', 'ws')}${ROUTES.agentSocket}`, {
      headers: { authorization: `Bearer ${this.#coordinator.joinToken}` },
    });
    this.#socket = socket;
    socket.on('error', () => undefined);
    socket.on('message', (payload: Buffer) => {
      this.#take(coordinatorMessageSchema.parse(JSON.parse(payload.toString('utf8'))));
    });
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
    });
    const welcome = this.next((message) => message.kind === 'welcome');
    this.send(helloOf(this.#options.agentId, this.#options.slots, attempts));
    await welcome;
    clearInterval(this.#heartbeat);
    this.#heartbeat = setInterval(() => this.send({ kind: 'heartbeat', freeSlots: 0 }), 500);
  }

  send(message: AgentMessage): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  sendBytes(bytes: Uint8Array): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(bytes);
  }

  /** The first message that is wanted, from now on or already received. */
  next(wants: (message: CoordinatorMessage) => boolean): Promise<CoordinatorMessage> {
    const already = this.received.find(wants);
    if (already !== undefined) return Promise.resolve(already);
    return new Promise((give) => this.#waiters.push({ wants, give }));
  }

  /** Resolves when the socket is closed, with its close code. */
  closed(): Promise<number> {
    return new Promise((resolve) => this.#socket?.once('close', (code: number) => resolve(code)));
  }

  /** Requests of the attempt in all intervals that were sent. */
  sentOf(attempt: ShardAttempt): number {
    return this.#sent.get(shardAttemptKey(attempt)) ?? 0;
  }

  /** Cuts the socket as a dead host would. */
  cut(): void {
    clearInterval(this.#heartbeat);
    this.#socket?.terminate();
  }

  /** Takes nothing more, and stops the load of what it has. */
  drain(): void {
    this.send({ kind: 'draining' });
    this.#sayDrained();
  }

  /** Leaves as an agent that is told to: it takes nothing more and closes its socket in order. */
  async leave(): Promise<void> {
    this.send({ kind: 'draining' });
    clearInterval(this.#heartbeat);
    this.#socket?.close(1000);
    await this.#consumer?.close(true);
  }

  #take(message: CoordinatorMessage): void {
    if (message.kind === 'acks') {
      for (const ack of message.acks) this.#take({ kind: 'ack', ...ack });
      return;
    }
    this.received.push(message);
    if (message.kind === 'ack') this.acknowledged.set(shardAttemptKey(message.shard), message.number);
    for (const waiter of this.#waiters.splice(0)) {
      if (waiter.wants(message)) waiter.give(message);
      else this.#waiters.push(waiter);
    }
  }

  async #carryOut(shard: Shard): Promise<ShardResult> {
    this.shards.push(shard);
    const { refusesWith, failsWith } = this.#options;
    if (refusesWith !== undefined) {
      this.send({ kind: 'refused', shard: attemptOf(shard), fatal: refusesWith });
      throw new Error(refusesWith.message);
    }
    if (this.#options.neverReady === true) await new Promise(() => undefined);
    this.send({ kind: 'ready', shard: attemptOf(shard) });
    const fatal = await this.#probe(shard);
    const go = fatal ?? (await this.#order(shard, 'start', 'stop')).kind;
    if (go === 'start' && failsWith !== undefined) throw new Error(failsWith);
    const sent = go === 'start' ? await this.#load(shard) : [unsent(shard, fatal)];
    if (go !== 'start') this.#sendIntervals(sent);
    const totals = encodeTotals({ ...attemptOf(shard), intervals: sent.length, ...sumOf(sent) });
    return {
      ...attemptOf(shard),
      totals: Buffer.from(totals).toString('base64'),
      addresses: ['127.0.0.1'],
      startSkewUs: 10,
      server: 'simulated',
      transport: 'none',
      ...(fatal === undefined ? {} : { fatal }),
    };
  }

  async #probe(shard: Shard): Promise<Fatal | undefined> {
    if (!shard.probe || (await this.#order(shard, 'probe', 'stop')).kind === 'stop') return undefined;
    const result = this.#options.probe ?? { ok: true, bodyBytes: 100, status: 200, server: 'simulated' };
    this.send({ kind: 'probed', shard: attemptOf(shard), result });
    return result.ok ? undefined : result.fatal;
  }

  /** Makes up the intervals of a shard that was started; the first one may be followed by a wait. */
  async #load(shard: Shard): Promise<Interval[]> {
    const { intervals = 3, holdAfterFirst, pauseMs, inFlightAfterFirst = 0 } = this.#options;
    const parts = spread(shard.requests ?? 10, intervals);
    const [first = 0, ...others] = parts;
    const connections = { opened: shard.connections };
    const completed = first - inFlightAfterFirst;
    const sent = [intervalOf(shard, { number: 0, completed, inFlight: inFlightAfterFirst, ...connections })];
    this.#sendIntervals(sent);
    const stopped = Promise.race([this.#order(shard, 'stop'), this.#drained]).then(() => true);
    const isStopped = await Promise.race([holdAfterFirst?.then(() => false) ?? false, stopped]);
    const rest = isStopped
      ? [{ completed: 0, notSentStopped: others.reduce((sum, part) => sum + part, 0) }]
      : others.map((completed) => ({ completed }));
    for (const [i, part] of rest.entries()) {
      if (pauseMs !== undefined) await new Promise((resolve) => setTimeout(resolve, pauseMs));
      const isLast = i === rest.length - 1;
      const interval = intervalOf(shard, {
        number: i + 1,
        isLast,
        closed: isLast ? shard.connections : 0,
        ...part,
      });
      sent.push(interval);
      if (this.#options.isReversed !== true) this.#sendIntervals([interval]);
    }
    if (this.#options.isReversed === true) this.#sendIntervals(sent.slice(1).toReversed());
    return sent;
  }

  #sendIntervals(intervals: readonly Interval[]): void {
    for (const interval of intervals) {
      const key = shardAttemptKey(interval);
      this.#sent.set(key, (this.#sent.get(key) ?? 0) + (interval.counters[COUNTER.sent] ?? 0));
      if (this.#options.drops?.includes(interval.number) === true) continue;
      const frame = encodeInterval(interval);
      this.sentFrames.push(frame);
      this.sendBytes(frame);
      if (this.#options.sendsTwice === true) this.sendBytes(encodeInterval(interval));
    }
  }

  #order(shard: Shard, ...kinds: readonly CoordinatorMessage['kind'][]): Promise<CoordinatorMessage> {
    const key = shardAttemptKey(shard);
    return this.next(
      (message) =>
        kinds.includes(message.kind) && 'shard' in message && shardAttemptKey(message.shard) === key,
    );
  }
}

function attemptOf({ runId, shardIndex, attempt }: ShardAttempt): ShardAttempt {
  return { runId, shardIndex, attempt };
}

/** The one interval of a shard that sent nothing. */
function unsent(shard: Shard, fatal: Fatal | undefined): Interval {
  const left = shard.requests ?? 0;
  const seen = fatal === undefined ? { notSentStopped: left } : { notSentFatal: left };
  return intervalOf(shard, { number: 0, isLast: true, ...seen });
}

export function helloOf(
  agentId: string,
  slots: number,
  attempts: readonly ShardAttempt[] = [],
): AgentMessage {
  return {
    kind: 'hello',
    protocol: PROTOCOL_VERSION,
    agentId,
    name: `simulated-${agentId}`,
    version: '0.0.0',
    slots,
    machine: { hostname: 'h', cpus: 1, cpuModel: 'c', memoryBytes: 1, os: 'o', arch: 'a', node: 'n' },
    attempts: [...attempts],
  };
}

interface Seen {
  readonly completed?: number;
  /** Taken up, and without outcome in this interval or any later one. */
  readonly inFlight?: number;
  readonly notSentStopped?: number;
  readonly notSentFatal?: number;
  readonly opened?: number;
  readonly closed?: number;
}

export function intervalOf(
  shard: ShardAttempt,
  given: Seen & { readonly number: number; readonly isLast?: boolean },
): Interval {
  const { number, isLast = false } = given;
  return { ...attemptOf(shard), number, span: 1, isLast, ...observe(given) };
}

function observe(seen: Seen): Observations {
  const { completed = 0, inFlight = 0, notSentStopped = 0, notSentFatal = 0, opened = 0, closed = 0 } = seen;
  const counters = newCounters();
  counters[COUNTER.planned] = completed + inFlight + notSentStopped + notSentFatal;
  counters[COUNTER.sent] = completed + inFlight;
  counters[COUNTER.completed] = completed;
  counters[COUNTER.notSentStopped] = notSentStopped;
  counters[COUNTER.notSentFatal] = notSentFatal;
  counters[COUNTER.connectionsAsked] = opened;
  counters[COUNTER.connectionsOpened] = opened;
  counters[COUNTER.connectionsClosedByUs] = closed;
  counters[COUNTER.bytesReceived] = completed * REPLY_BYTES;
  const reused = new Histogram();
  if (completed > 0) reused.record(LATENCY_US, completed);
  const gauges = new Float64Array(GAUGE_NAMES.length);
  gauges[GAUGE.firstSendUs] = completed > 0 ? 0 : -1;
  gauges[GAUGE.lastEventUs] = completed > 0 ? 500_000 : -1;
  return {
    counters,
    statusCounts: completed > 0 ? new Map([[200, completed]]) : new Map(),
    histograms: HISTOGRAM_NAMES.map((_, i) => (i === HISTOGRAM.reused ? reused : new Histogram()).toSparse()),
    gauges,
  };
}

function sumOf(intervals: readonly Interval[]): Observations {
  const counters = newCounters();
  for (const interval of intervals) addCounters(counters, interval.counters);
  return { ...observe({ completed: counters[COUNTER.completed] ?? 0 }), counters };
}

function spread(total: number, count: number): number[] {
  return Array.from(
    { length: count },
    (_, i) => Math.floor((total * (i + 1)) / count) - Math.floor((total * i) / count),
  );
}

function shardIn(data: unknown): Shard {
  const { order } = signedShardSchema.parse(data);
  return shardSchema.parse(shardOrderSchema.parse(JSON.parse(order)).shard);
}
