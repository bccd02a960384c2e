/** The life of an agent: connect, greet, take shards, drain, leave. */

import { randomUUID } from 'node:crypto';
import {
  BROADSIDE_VERSION,
  BroadsideError,
  PROTOCOL_VERSION,
  type QueueAddress,
  type TargetPolicyTexts,
} from '@broadside/shared';
import { type AgentOptions, type CheckedOptions, checkOptions } from './agent-options.js';
import { knownCapacity } from './capacity/known-capacity.js';
import { checkShardFits } from './machine/check-shard-fits.js';
import { describeMachine } from './machine/describe-machine.js';
import { ForgedJobs } from './queue/forged-jobs.js';
import { connectRedisWiring } from './queue/redis-wiring.js';
import { createShardConsumer } from './queue/shard-consumer.js';
import { ShardOrders } from './queue/shard-orders.js';
import type { ShardQueueConsumer, ShardQueueWiring } from './queue/shard-queue-wiring.js';

import { ATTEMPT_TIMEOUTS, ShardAttempts } from './shard-attempts.js';
import { SlotPool } from './slot/slot-pool.js';
import { systemTimers } from './timers.js';
import { LonelyLoad } from './uplink/lonely-load.js';
import { Uplink } from './uplink/uplink.js';
import { within } from './within.js';

/** How an agent's life ended. */
export interface AgentEnd {
  /** Why it ended by itself; absent after `drain` and `close`. */
  readonly error?: BroadsideError;
  /** Shards whose intervals or results the coordinator had not taken when the agent left. */
  readonly undelivered: number;
}

export interface Agent {
  readonly id: string;
  /** As reports call it: the coordinator numbers agents of one name. */
  readonly name: string;
  readonly slots: number;
  /** Resolves when the agent has left, whoever wanted it. Never rejects. */
  readonly closed: Promise<AgentEnd>;
  /**
   * Leaves in an orderly way (SIGTERM): takes no more shards, stops the load, delivers intervals and results.
   * Takes 20 s at most.
   */
  drain(): Promise<void>;
  /** Leaves at once: as `drain`, but waits for little; shortens a `drain` that is under way. */
  close(): Promise<void>;
}

const ENGINE_THREAD = new URL('./slot/engine-thread.js', import.meta.url);
/** Of a coordinator that says nothing about targets. */
const NO_TARGETS: TargetPolicyTexts = { allow: [], deny: [] };
/** The measurement of this machine loads a target of its own. */
const OWN_LOOPBACK = {
  coordinator: { allow: ['loopback'], deny: [] },
  agent: { allow: ['loopback'], deny: [] },
};
const STOP_TIMEOUT_MS = 5_000;
const DRAIN_TIMEOUT_MS = 15_000;
const CLOSE_TIMEOUT_MS = 2_000;
const CONSUMER_CLOSE_TIMEOUT_MS = 3_000;

/**
 * Connects an agent to its coordinator and lets it take shards.
 * @throws BroadsideError in one line when an option is wrong, the coordinator or its queue cannot be reached
 *   within `connectTimeoutMs`, or the coordinator does not accept this agent. Nothing is left running then.
 */
export async function startAgent(options: AgentOptions): Promise<Agent> {
  const agent = new RunningAgent(checkOptions(options));
  await agent.start();
  return agent;
}

class RunningAgent implements Agent {
  readonly id = randomUUID();
  readonly slots: number;
  readonly closed: Promise<AgentEnd>;
  readonly #options: CheckedOptions;
  readonly #machine = describeMachine();
  /** Requests per second of a slot, once it is measured. */
  #capacityHz: number | undefined;
  readonly #pool: SlotPool;
  readonly #uplink: Uplink;
  readonly #attempts: ShardAttempts;
  #name: string;
  readonly #lonely = new LonelyLoad(systemTimers, (reason) => this.#attempts.stopAll(reason));
  readonly #orders: ShardOrders;
  readonly #forged: ForgedJobs;
  #consumer: ShardQueueConsumer | undefined;
  #queue: QueueAddress | undefined;
  /** The coordinator's target policy, as its last welcome said. */
  #targets: TargetPolicyTexts = NO_TARGETS;
  #closeQueue: () => void = () => undefined;
  #leaving: Promise<void> | undefined;
  #lastError: BroadsideError | undefined;
  #hurry: () => void = () => undefined;
  #sayClosed: (end: AgentEnd) => void = () => undefined;

  constructor(options: CheckedOptions) {
    const { name, slots, logger, transport } = options;
    this.#options = options;
    this.#name = name;
    this.slots = slots;
    this.closed = new Promise((resolve) => {
      this.#sayClosed = resolve;
    });
    this.#pool = new SlotPool({
      slots,
      threadEntry: ENGINE_THREAD,
      transport,
      logger,
      stopTimeoutMs: STOP_TIMEOUT_MS,
    });
    this.#uplink = this.#createUplink();
    this.#orders = new ShardOrders({ agentId: this.id, coordinatorUs: () => this.#uplink.coordinatorUs });
    this.#forged = new ForgedJobs(options.clock, (message) => this.#uplink.send(message), logger);
    this.#attempts = new ShardAttempts({
      runInSlot: (shard, events) =>
        this.#pool.run(shard, events, { coordinator: this.#targets, agent: options.targets }),
      preflight: checkShardFits,
      uplink: this.#uplink,
      logger,
      timers: systemTimers,
      ...ATTEMPT_TIMEOUTS,
    });
  }

  get name(): string {
    return this.#name;
  }

  async start(): Promise<void> {
    const { logger } = this.#options;
    try {
      // Not waited for: a shard that comes sooner waits for the one thread that it needs.
      const warmUp = this.#pool.warmUp();
      warmUp.catch((error: unknown) => logger.error({ error }, 'cannot start engine threads'));
      await this.#measure();
      this.#assertStaying();
      const welcome = await this.#uplink.connect();
      this.#queue = welcome.queue;
      const wiring = await this.#chooseQueue(welcome.queue);
      this.#assertStaying();
      this.#consumer = createShardConsumer({
        wiring,
        agentId: this.id,
        concurrency: this.slots + this.#pool.extraSlots,
        orders: this.#orders,
        onShard: (shard) => this.#attempts.carryOut(shard),
        onInvalid: (attempt, fatal) => this.#attempts.refuseInvalid(attempt, fatal),
        onForged: (reason) => this.#forged.note(reason),
      });
      if (!(await within(this.#options.connectTimeoutMs, this.#consumer.waitUntilReady()))) {
        throw new BroadsideError('unavailable', 'the queue of the coordinator does not answer', {
          hint: 'check that its Redis runs and can be reached from this machine',
        });
      }
      this.#assertStaying();
      this.#keepSpare(welcome.queue, warmUp);
    } catch (error) {
      await this.#leave(0);
      // What was created while it was leaving already.
      if (this.#consumer !== undefined) await within(CONSUMER_CLOSE_TIMEOUT_MS, this.#consumer.close());
      this.#closeQueue();
      throw error;
    }
    logger.info({ agent: this.id, slots: this.slots }, `agent ${this.name} is ready`);
  }

  /** With an embedded queue there is no other agent whose load this one could take over. */
  #keepSpare(queue: QueueAddress, warmUp: Promise<void>): void {
    if (queue.kind === 'embedded') return;
    const { logger } = this.#options;
    warmUp
      .then(() => this.#pool.keepSpare())
      .catch((error: unknown) => logger.error({ error }, 'cannot start a spare engine thread'));
  }

  /** Where somebody has said what its slots weigh, nothing needs to be measured. */
  async #measure(): Promise<void> {
    const { capacityFile, weight, logger, transport } = this.#options;
    if (capacityFile === undefined || weight !== undefined) return;
    this.#capacityHz = await knownCapacity({
      file: capacityFile,
      runInSlot: (shard, events) => this.#pool.run(shard, events, OWN_LOOPBACK),
      machine: this.#machine,
      settings: { slots: this.slots, transport, version: BROADSIDE_VERSION },
      logger,
    });
  }

  drain(): Promise<void> {
    return this.#leave(DRAIN_TIMEOUT_MS);
  }

  async close(): Promise<void> {
    const timer = setTimeout(() => this.#hurry(), CLOSE_TIMEOUT_MS);
    await this.#leave(CLOSE_TIMEOUT_MS);
    clearTimeout(timer);
  }

  /** The coordinator may take its welcome back while the queue is being connected. */
  #assertStaying(): void {
    if (this.#leaving === undefined) return;
    throw this.#lastError ?? new BroadsideError('unavailable', 'the agent was closed while it was starting');
  }

  #createUplink(): Uplink {
    const { coordinatorUrl, joinToken, trust, labels, weight, clock, random, logger, connectTimeoutMs } =
      this.#options;
    return new Uplink({
      coordinatorUrl,
      joinToken,
      trust,
      greeting: () => ({
        kind: 'hello',
        protocol: PROTOCOL_VERSION,
        agentId: this.id,
        name: this.#options.name,
        version: BROADSIDE_VERSION,
        slots: this.slots,
        extraSlots: this.#pool.extraSlots,
        machine: this.#machine,
        ...(Object.keys(labels).length === 0 ? {} : { labels }),
        ...(this.#capacityHz === undefined ? {} : { capacityHz: this.#capacityHz }),
        ...(weight === undefined ? {} : { weight }),
      }),
      attempts: () => this.#attempts.list(),
      freeSlots: () => (this.#leaving === undefined ? this.#pool.freeCount : 0),
      events: {
        onWelcome: ({ queue, name, targets, shardKeys = [] }) => {
          this.#beCalled(name ?? this.#options.name);
          this.#lonely.coordinatorIsThere();
          this.#orders.trust(shardKeys);
          this.#targets = targets ?? NO_TARGETS;
          this.#attempts.resend();
          this.#checkQueue(queue);
        },
        onOrder: (order) => this.#attempts.obey(order),
        onHalt: (reason) => this.#attempts.stopAll(reason),
        onAway: () => this.#lonely.coordinatorIsAway(),
        onRoom: () => this.#attempts.pump(),
        onRejected: (error) => this.#giveUp(error),
      },
      clock,
      random,
      logger,
      connectTimeoutMs,
    });
  }

  async #chooseQueue(address: QueueAddress): Promise<ShardQueueWiring> {
    const { queue, redisUrl, logger, connectTimeoutMs } = this.#options;
    if (queue !== undefined) return queue;
    if (address.kind === 'embedded') {
      throw new BroadsideError(
        'conflict',
        'this coordinator has an embedded queue; start it with --redis to join agents from other processes',
      );
    }
    const url = redisUrl ?? address.url;
    const wiring = await connectRedisWiring({ url, prefix: address.prefix, logger, connectTimeoutMs });
    this.#closeQueue = () => wiring.close();
    return wiring;
  }

  #beCalled(name: string): void {
    if (name === this.#name) return;
    this.#name = name;
    this.#options.logger.warn(`another agent has this name already; reports call this one ${name}`);
  }

  /** A coordinator that came back with another queue would give shards to where this agent does not look. */
  #checkQueue(address: QueueAddress): void {
    const { queue, redisUrl } = this.#options;
    const place = (of: QueueAddress): string =>
      of.kind === 'redis' ? `${redisUrl ?? of.url} ${of.prefix}` : of.kind;
    if (queue !== undefined || this.#queue === undefined || place(address) === place(this.#queue)) return;
    this.#giveUp(
      new BroadsideError('conflict', 'the coordinator came back with another queue; start this agent again'),
    );
  }

  #giveUp(error: BroadsideError): void {
    // Told by whoever waits for the end of this agent.
    this.#options.logger.debug(error.message);
    this.#lastError = error;
    // `leave` does not reject: each of its steps is bounded, and failures of the queue are expected here.
    void this.#leave(CLOSE_TIMEOUT_MS);
  }

  /** @param timeoutMs for stopping the load and delivering what was measured. */
  #leave(timeoutMs: number): Promise<void> {
    this.#leaving ??= this.#stopEverything(timeoutMs).then((undelivered) =>
      this.#sayClosed({
        undelivered,
        ...(this.#lastError === undefined ? {} : { error: this.#lastError }),
      }),
    );
    return this.#leaving;
  }

  /** @returns how many shards could not be delivered. */
  async #stopEverything(timeoutMs: number): Promise<number> {
    const { logger } = this.#options;
    const hurried = new Promise<void>((resolve) => {
      this.#hurry = resolve;
    });
    this.#attempts.drain();
    try {
      // Not waiting for what runs: that is what `settled` does, within its bound.
      await this.#consumer?.pause(true);
      await Promise.race([this.#attempts.settled(timeoutMs), hurried]);
      await this.#pool.close();
      // Closing waits until the results of the ended shards are delivered.
      if (this.#consumer !== undefined) await within(CONSUMER_CLOSE_TIMEOUT_MS, this.#consumer.close());
    } catch (failure) {
      logger.warn(
        { reason: failure instanceof Error ? failure.message : String(failure) },
        'leaving the queue failed',
      );
    }
    this.#closeQueue();
    await this.#pool.close();
    await this.#uplink.close();
    const undelivered = this.#attempts.list().length;
    this.#lonely.coordinatorIsThere();
    this.#attempts.close();
    return undelivered;
  }
}
