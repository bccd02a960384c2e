/**
 * An agent that sends no load: it speaks the real protocol over a real socket and takes real shards from the
 * real queue, and makes up what they saw. Its shards end as fast as they are told to start.
 */
import {
  type AgentMessage,
  COUNTER,
  coordinatorMessageSchema,
  type CoordinatorMessage,
  encodeInterval,
  encodeTotals,
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
  shardAttemptKey,
  shardQueueOf,
  type ShardResult,
  shardSchema,
} from '@broadside/shared';
import type { Coordinator } from '@broadside/coordinator';
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
  readonly #coordinator: Coordinator;
  readonly #options: SimulatedAgentOptions;
  readonly #waiters: { readonly wants: (message: CoordinatorMessage) => boolean; readonly give: (message: CoordinatorMessage) => void }[] =
    [];
  #socket: WebSocket | undefined;
  #heartbeat: NodeJS.Timeout | undefined;
  #consumer: { close(force?: boolean): Promise<void> } | undefined;

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
      ({ data }) => agent.#carryOut(shardSchema.parse(data)),
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

  /** Cuts the socket as a dead host would. */
  cut(): void {
    clearInterval(this.#heartbeat);
    this.#socket?.terminate();
  }

  async leave(): Promise<void> {
    this.cut();
    await this.#consumer?.close(true);
  }

  #take(message: CoordinatorMessage): void {
    this.received.push(message);
    if (message.kind === 'ack') this.acknowledged.set(shardAttemptKey(message.shard), message.number);
    for (const waiter of this.#waiters.splice(0)) {
      if (waiter.wants(message)) waiter.give(message);
      else this.#waiters.push(waiter);
    }
  }

  async #carryOut(shard: Shard): Promise<ShardResult> {
    this.shards.push(shard);
    const { runId, shardIndex, attempt } = shard;
    const key = shardAttemptKey(shard);
    const own = { runId, shardIndex, attempt };
    const order = (kind: CoordinatorMessage['kind']) =>
      this.next((message) => message.kind === kind && 'shard' in message && shardAttemptKey(message.shard) === key);
    this.send({ kind: 'ready', shard: own });
    let fatal: ShardResult['fatal'];
    if (shard.probe) {
      const first = await Promise.race([order('probe'), order('stop')]);
      const result = this.#options.probe ?? { ok: true, bodyBytes: 100, status: 200, server: 'simulated' };
      if (first.kind === 'probe') {
        if (!result.ok) fatal = result.fatal;
        this.send({ kind: 'probed', shard: own, result });
      }
    }
    const go = fatal === undefined ? await Promise.race([order('start'), order('stop')]) : undefined;
    const count = go?.kind === 'start' ? (this.#options.intervals ?? 3) : 1;
    const parts = go?.kind === 'start' ? spread(shard.requests ?? 10, count) : [0];
    let isStopped = go?.kind === 'stop';
    const sent: Interval[] = [];
    for (const [number, completed] of parts.entries()) {
      const isLast = number === parts.length - 1 || isStopped;
      const left = (shard.requests ?? 0) - sent.reduce((sum, each) => sum + completedOf(each), 0);
      const interval: Interval = {
        ...own,
        number,
        span: 1,
        isLast,
        ...observe({
          completed: isStopped || fatal !== undefined ? 0 : completed,
          stopped: isStopped ? left : 0,
          fatal: fatal === undefined ? 0 : left,
          opened: number === 0 && go?.kind === 'start' ? shard.connections : 0,
          closed: isLast && go?.kind === 'start' ? shard.connections : 0,
        }),
      };
      sent.push(interval);
      this.sendBytes(encodeInterval(interval));
      if (this.#options.sendsTwice === true) this.sendBytes(encodeInterval(interval));
      if (isLast) break;
      if (number === 0 && this.#options.holdAfterFirst !== undefined) {
        const stop = order('stop').then(() => {
          isStopped = true;
        });
        await Promise.race([this.#options.holdAfterFirst, stop]);
      }
    }
    return {
      ...own,
      totals: Buffer.from(encodeTotals({ ...own, intervals: sent.length, ...sumOf(sent) })).toString('base64'),
      addresses: ['127.0.0.1'],
      startSkewUs: 10,
      server: 'simulated',
      transport: 'none',
      ...(fatal === undefined ? {} : { fatal }),
    };
  }
}

export function helloOf(agentId: string, slots: number, attempts: readonly ShardAttempt[] = []): AgentMessage {
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
  readonly completed: number;
  readonly stopped: number;
  readonly fatal: number;
  readonly opened: number;
  readonly closed: number;
}

function observe(seen: Seen): Observations {
  const counters = newCounters();
  counters[COUNTER.planned] = seen.completed + seen.stopped + seen.fatal;
  counters[COUNTER.sent] = seen.completed;
  counters[COUNTER.completed] = seen.completed;
  counters[COUNTER.notSentStopped] = seen.stopped;
  counters[COUNTER.notSentFatal] = seen.fatal;
  counters[COUNTER.connectionsAsked] = seen.opened;
  counters[COUNTER.connectionsOpened] = seen.opened;
  counters[COUNTER.connectionsClosedByUs] = seen.closed;
  counters[COUNTER.bytesReceived] = seen.completed * REPLY_BYTES;
  const reused = new Histogram();
  if (seen.completed > 0) reused.record(LATENCY_US, seen.completed);
  const gauges = new Float64Array(GAUGE_NAMES.length);
  gauges[GAUGE.firstSendUs] = seen.completed > 0 ? 0 : -1;
  gauges[GAUGE.lastEventUs] = seen.completed > 0 ? 500_000 : -1;
  return {
    counters,
    statusCounts: seen.completed > 0 ? new Map([[200, seen.completed]]) : new Map(),
    histograms: HISTOGRAM_NAMES.map((_, i) => (i === HISTOGRAM.reused ? reused : new Histogram()).toSparse()),
    gauges,
  };
}

function sumOf(intervals: readonly Interval[]): Observations {
  const counters = newCounters();
  for (const interval of intervals) {
    for (let i = 0; i < counters.length; i++) counters[i] = (counters[i] ?? 0) + (interval.counters[i] ?? 0);
  }
  const completed = counters[COUNTER.completed] ?? 0;
  const sum = observe({ completed, stopped: 0, fatal: 0, opened: 0, closed: 0 });
  return { ...sum, counters };
}

function completedOf(interval: Interval): number {
  return interval.counters[COUNTER.completed] ?? 0;
}

function spread(total: number, count: number): number[] {
  return Array.from(
    { length: count },
    (_, i) => Math.floor((total * (i + 1)) / count) - Math.floor((total * i) / count),
  );
}
