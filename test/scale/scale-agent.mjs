// One simulated agent of the scale test: the real protocol over a real WebSocket and the real queue, without an
// engine. It sends its frames when its swarm says so, and keeps them until they are acknowledged.
import {
  coordinatorMessageSchema,
  encodeBundle,
  encodeInterval,
  encodeTotals,
  LIMITS,
  PROTOCOL_VERSION,
  ROUTES,
  shardAttemptKey,
  shardOrderSchema,
  shardQueueOf,
  shardSchema,
  signedShardSchema,
} from '@broadside/shared';
import { Worker } from 'bullmq';
import { WebSocket } from 'ws';

/**
 * @typedef {import('@broadside/shared').AgentMessage} AgentMessage
 * @typedef {import('@broadside/shared').CoordinatorMessage} CoordinatorMessage
 * @typedef {import('@broadside/shared').Shard} Shard
 * @typedef {import('@broadside/shared').ShardResult} ShardResult
 * @typedef {import('./made-up-load.mjs').MadeUpLoad} MadeUpLoad
 * @typedef {{
 *   agentId: string, url: string, joinToken: string, prefix: string, slots: number, load: MadeUpLoad,
 *   redis: import('ioredis').Redis, onStart: (startAtUs: number) => void, onAck: (latencyMs: number) => void,
 * }} ScaleAgentOptions
 * @typedef {{ shard: Shard, count: number, next: number, unacknowledged: Map<number, number>,
 *   frame: Uint8Array | undefined, end: (result: ShardResult) => void }} Carried
 */

const MACHINE = {
  hostname: 'simulated',
  cpus: 2,
  cpuModel: 'none',
  memoryBytes: 1,
  os: 'o',
  arch: 'a',
  node: 'n',
};
const CLOCK_PROBE_MS = 2_000;

export class ScaleAgent {
  #options;
  /** @type {WebSocket | undefined} */
  #socket;
  /** @type {Worker | undefined} */
  #consumer;
  /** @type {NodeJS.Timeout[]} */
  #timers = [];
  /** @type {Map<string, Carried>} */
  #carried = new Map();
  /**
   * Those of them whose job has not ended.
   * @type {Map<string, Carried>}
   */
  #ending = new Map();
  /** Frames that were sent, for the books of the test. */
  sentFrames = 0;
  acknowledgedFrames = 0;

  /** @param {ScaleAgentOptions} options */
  constructor(options) {
    this.#options = options;
  }

  /** Joins, and waits for the welcome and for the queue. */
  async join() {
    const { url, joinToken, agentId, redis, prefix, slots } = this.#options;
    const socket = new WebSocket(`${url.replace('http', 'ws')}${ROUTES.agentSocket}`, {
      headers: { authorization: `Bearer ${joinToken}` },
      perMessageDeflate: false,
    });
    this.#socket = socket;
    await new Promise((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
    });
    const welcome = new Promise((resolve) => {
      socket.once('message', resolve);
    });
    this.#say({
      kind: 'hello',
      protocol: PROTOCOL_VERSION,
      agentId,
      name: agentId,
      version: '0.0.0',
      slots,
      machine: MACHINE,
      attempts: [],
    });
    await welcome;
    socket.on('message', (/** @type {Buffer} */ payload) => {
      this.#take(coordinatorMessageSchema.parse(JSON.parse(payload.toString('utf8'))));
    });
    this.#timers.push(
      setInterval(() => this.#say({ kind: 'heartbeat', freeSlots: 0 }), LIMITS.heartbeatMs),
      setInterval(() => this.#say({ kind: 'clock-probe', sentUs: Date.now() * 1_000 }), CLOCK_PROBE_MS),
    );
    const consumer = new Worker(
      shardQueueOf(agentId),
      // The tests of real agents look at signatures.
      ({ data }) => {
        const order = shardOrderSchema.parse(JSON.parse(signedShardSchema.parse(data).order));
        return this.#carryOut(shardSchema.parse(order.shard));
      },
      {
        connection: redis,
        prefix,
        concurrency: slots,
        maxStalledCount: 0,
        lockDuration: 300_000,
        lockRenewTime: 100_000,
      },
    );
    consumer.on('error', () => undefined);
    this.#consumer = consumer;
    await consumer.waitUntilReady();
  }

  /** Encodes the frames of the next interval, so that they go out at its end without delay. */
  prepare() {
    for (const carried of this.#carried.values()) {
      if (carried.next >= carried.count || carried.frame !== undefined) continue;
      const { shard, next, count } = carried;
      carried.frame = encodeInterval(this.#options.load.interval(shard, { number: next, count }));
    }
  }

  /** Whether a frame waits for its instant. */
  get isReady() {
    return [...this.#carried.values()].some(({ frame }) => frame !== undefined);
  }

  /** Sends the frames of the interval that has just ended. */
  send() {
    const due = [...this.#carried.values()].filter(({ frame }) => frame !== undefined);
    const frames = due.flatMap(({ frame }) => frame ?? []);
    const [first] = frames;
    if (first === undefined) return;
    this.#socket?.send(frames.length === 1 ? first : encodeBundle(frames));
    for (const carried of due) {
      carried.unacknowledged.set(carried.next, performance.now());
      this.sentFrames++;
      carried.frame = undefined;
      carried.next++;
    }
  }

  /** Ends the jobs whose last frame is out. Apart from sending, which it would delay: real agents have a CPU each. */
  finish() {
    for (const [key, carried] of this.#ending) {
      if (carried.next < carried.count) continue;
      this.#ending.delete(key);
      this.#end(carried);
    }
  }

  async leave() {
    for (const timer of this.#timers) clearInterval(timer);
    await this.#consumer?.close(true);
    this.#socket?.close(1000);
  }

  /** @param {AgentMessage} message */
  #say(message) {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  /** @param {CoordinatorMessage} message */
  #take(message) {
    switch (message.kind) {
      case 'probe':
        this.#say({
          kind: 'probed',
          shard: message.shard,
          result: { ok: true, bodyBytes: 100, status: 200, server: 'simulated' },
        });
        return;
      case 'start':
        this.#options.onStart(message.startAtUs);
        return;
      case 'clock-reply':
        this.#say({ kind: 'clock-offset', offsetUs: 0, uncertaintyUs: 100 });
        return;
      case 'ack':
        this.#acknowledge(message);
        return;
      case 'acks':
        for (const ack of message.acks) this.#acknowledge(ack);
        return;
      case 'stop':
      case 'fenced':
      case 'halt':
      case 'rejected':
        throw new Error(`agent ${this.#options.agentId} was told: ${JSON.stringify(message)}`);
      case 'welcome':
      // Comes once, before anybody listens here.
    }
  }

  /** @param {{ shard: import('@broadside/shared').ShardAttempt, number: number }} ack */
  #acknowledge(ack) {
    const { unacknowledged } = this.#carried.get(shardAttemptKey(ack.shard)) ?? {};
    if (unacknowledged === undefined) return;
    const nowMs = performance.now();
    // In the order in which they were sent.
    for (const [number, sentMs] of unacknowledged) {
      if (number > ack.number) break;
      unacknowledged.delete(number);
      this.acknowledgedFrames++;
      this.#options.onAck(nowMs - sentMs);
    }
  }

  /** @param {Shard} shard @returns {Promise<ShardResult>} */
  #carryOut(shard) {
    const { runId, shardIndex, attempt } = shard;
    return new Promise((end) => {
      const count = Math.round((shard.durationMs ?? 0) / LIMITS.intervalMs);
      const carried = { shard, count, next: 0, unacknowledged: new Map(), frame: undefined, end };
      this.#carried.set(shardAttemptKey(shard), carried);
      this.#ending.set(shardAttemptKey(shard), carried);
      this.prepare();
      this.#say({ kind: 'ready', shard: { runId, shardIndex, attempt } });
    });
  }

  /** @param {Carried} carried */
  #end({ shard, count, end }) {
    const { runId, shardIndex, attempt } = shard;
    const totals = this.#options.load.totals(shardIndex, count);
    const frame = encodeTotals({ runId, shardIndex, attempt, intervals: count, ...totals });
    end({
      runId,
      shardIndex,
      attempt,
      totals: Buffer.from(frame).toString('base64'),
      addresses: ['127.0.0.1'],
      startSkewUs: 10,
      server: 'simulated',
      transport: 'none',
    });
  }
}
