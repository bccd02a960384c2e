// A process full of simulated agents, started by scale-cluster.ts and told by IPC what to do. All of them close their
// intervals at the same instants, as the slots of a real run do: the coordinator gets every second in one burst.
import { monotonicClock } from '@broadside/engine/host';
import { Histogram } from '@broadside/shared';
import { Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { MadeUpLoad } from './made-up-load.mjs';
import { ScaleAgent } from './scale-agent.mjs';

/**
 * @typedef {{ url: string, joinToken: string, redisUrl: string, seed: number, connections: number,
 *   firstAgent: number, agents: number, slots: number }} SwarmOrder
 * @typedef {{ sentFrames: number, acknowledgedFrames: number, ackUs: import('@broadside/shared').SparseHistogram,
 *   lateMs: number, reconnects: number, fenced: number }} SwarmResult
 */

/** Agents that join at the same time; the rest waits its turn. */
const JOINING = 100;
/** Agents that send before acknowledgements are read again. */
const SENDING = 25;
const QUEUE_DRAIN_S = 300;
/** How often the swarm looks whether everything was acknowledged. */
const SETTLE_MS = 20;

class Swarm {
  #ackUs = new Histogram();
  /** @type {ScaleAgent[]} */
  #agents = [];
  /** @type {number | undefined} */
  #startAtUs;
  #order;
  #redis;
  /** How late the swarm itself was with an interval at worst. */
  #lateMs = 0;
  #jobs = new Turns();

  /** @param {SwarmOrder} order */
  constructor(order) {
    this.#order = order;
    this.#redis = new Redis(order.redisUrl, { maxRetriesPerRequest: null });
    this.#redis.setMaxListeners(0);
  }

  /**
   * As that of apps/agent, but with one connection for all agents beside those that block.
   * @param {string} prefix
   * @returns {import('@broadside/agent/core').ShardQueueWiring}
   */
  #wiringOf(prefix) {
    return {
      createConsumer: (name, processor, { concurrency }) => {
        const worker = new Worker(name, (job) => this.#jobs.inTurn(() => processor(job)), {
          connection: this.#redis,
          prefix,
          concurrency,
          maxStalledCount: 0,
          lockDuration: 300_000,
          lockRenewTime: 100_000,
          // Real agents ask again every 5 s whether there is a job, each on a CPU of its own.
          drainDelay: QUEUE_DRAIN_S,
        });
        worker.on('error', (error) => console.error(`queue ${name}: ${error.message}`));
        return worker;
      },
    };
  }

  async join() {
    const { seed, connections, firstAgent, agents, slots, url, joinToken } = this.#order;
    const load = new MadeUpLoad(seed, connections);
    const logger = pino({ level: 'error' }, process.stderr);
    this.#agents = Array.from(
      { length: agents },
      (_, i) =>
        new ScaleAgent({
          agentId: `scale-${String(firstAgent + i).padStart(5, '0')}`,
          url,
          joinToken,
          slots,
          load,
          wiringOf: (prefix) => this.#wiringOf(prefix),
          logger,
          onStart: (startAtUs) => this.#start(startAtUs),
          onAck: (latencyMs) => this.#ackUs.record(latencyMs * 1_000),
        }),
    );
    const waiting = [...this.#agents];
    await Promise.all(
      Array.from({ length: JOINING }, async () => {
        for (let agent = waiting.shift(); agent !== undefined; agent = waiting.shift()) await agent.join();
      }),
    );
  }

  /** Resolves when every frame that was sent is acknowledged. @returns {Promise<SwarmResult>} */
  async settled() {
    const sum = (/** @type {(agent: ScaleAgent) => number} */ of) =>
      this.#agents.reduce((total, agent) => total + of(agent), 0);
    for (;;) {
      const [sentFrames, acknowledgedFrames] = [sum((a) => a.sentFrames), sum((a) => a.acknowledgedFrames)];
      if (sentFrames > 0 && sentFrames === acknowledgedFrames) {
        return {
          sentFrames,
          acknowledgedFrames,
          ackUs: this.#ackUs.toSparse(),
          lateMs: this.#lateMs,
          reconnects: sum((a) => a.reconnects),
          fenced: sum((a) => a.fenced),
        };
      }
      await later(SETTLE_MS);
    }
  }

  async leave() {
    await Promise.all(this.#agents.map((agent) => agent.leave()));
    this.#redis.disconnect();
  }

  /** @param {number} startAtUs the same for all */
  #start(startAtUs) {
    if (this.#startAtUs !== undefined) return;
    this.#startAtUs = startAtUs;
    void this.#carryOn(startAtUs / 1_000);
  }

  /** @param {number} startAtMs */
  async #carryOn(startAtMs) {
    for (let number = 1; ; number++) {
      const dueMs = startAtMs + number * 1_000;
      await later(dueMs - nowMs());
      if (this.#agents.some((agent) => agent.isReady)) {
        this.#lateMs = Math.max(this.#lateMs, nowMs() - dueMs);
      }
      await this.#inTurns((agent) => agent.emit());
      await this.#inTurns((agent) => agent.prepare());
      await this.#inTurns((agent) => agent.finish());
    }
  }

  /** @param {(agent: ScaleAgent) => void} act */
  async #inTurns(act) {
    for (let from = 0; from < this.#agents.length; from += SENDING) {
      for (const agent of this.#agents.slice(from, from + SENDING)) act(agent);
      await nextLoop();
    }
  }
}

/** One agent after the other, the event loop between them: a thousand at once would silence all the others. */
class Turns {
  /** @type {Promise<void>} */
  #last = Promise.resolve();

  /**
   * @template T
   * @param {() => Promise<T>} act
   * @returns {Promise<T>} of what it began; the next turn does not wait for its end
   */
  async inTurn(act) {
    this.#last = this.#last.then(nextLoop);
    await this.#last;
    return act();
  }
}

/** @returns {Promise<void>} */
function nextLoop() {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** As the agents' start instants are named. */
function nowMs() {
  return monotonicClock.nowUs() / 1_000;
}

/** @param {number} delayMs */
function later(delayMs) {
  return new Promise((resolve) => {
    setTimeout(resolve, Math.max(delayMs, 0));
  });
}

/** @type {Swarm | undefined} */
let swarm;

/** @param {{ kind: 'join', order: SwarmOrder } | { kind: 'settle' } | { kind: 'leave' }} message */
async function obey(message) {
  if (message.kind === 'join') {
    swarm = new Swarm(message.order);
    await swarm.join();
    process.send?.({ kind: 'joined' });
  } else if (message.kind === 'settle') {
    process.send?.({ kind: 'settled', result: await swarm?.settled() });
  } else {
    await swarm?.leave();
    process.exit(0);
  }
}

// Whoever started it is gone: nobody wants these agents.
process.on('disconnect', () => process.exit(1));
process.on('message', (/** @type {Parameters<typeof obey>[0]} */ message) => {
  obey(message).catch((error) => {
    console.error(error);
    process.exit(1);
  });
});
