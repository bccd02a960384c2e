/**
 * BullMQ's classes on one backend and one connection. The same code for Redis and for PostgreSQL; which of
 * them it is, is decided by whoever constructs it (queue-wiring.ts), and nobody else can tell.
 */
import {
  type BackendClasses,
  type BackendFactory,
  type IQueueBackend,
  type Processor,
  type Queue,
  type QueueEvents,
  type QueueEventsListener,
  withBackend,
} from 'bullmq';

import { within } from '../storage/within.js';
import { type Consumer, RemadeConsumer } from './remade-consumer.js';
import { type Producer, RemadeProducer } from './remade-producer.js';

/**
 * A result can be delivered as long as the lock of its job lives, so this is the longest outage of the carrier
 * that costs no result. It finds no dead agents: those the coordinator learns from their sockets.
 */
const LOCK_DURATION_MS = 300_000;
const LOCK_RENEW_MS = 10_000;
/** After an outage the next job is asked for this late at most; BullMQ's own default is 15 s. */
const RUN_RETRY_MS = 500;
/** A consumer that does not let go within this time is left alone; its connection is cut afterwards. */
const CLOSE_TIMEOUT_MS = 5_000;
/** How much of that one may take to finish opening. */
const OPEN_TIMEOUT_MS = 3_000;

/** What stays of ended jobs: the store keeps the runs, the queue only what somebody may want to look at. */
const KEEP_ENDED = { age: 3_600, count: 1_000 } as const;

/**
 * Options for every job of a flow. One attempt, because only the coordinator decides about a second one;
 * a failed shard does not fail its run, because what is left of it may go to another agent.
 */
export const SHARD_JOB_OPTIONS = {
  attempts: 1,
  removeOnComplete: KEEP_ENDED,
  removeOnFail: KEEP_ENDED,
  ignoreDependencyOnFailure: true,
} as const;

export const RUN_JOB_OPTIONS = {
  attempts: 1,
  removeOnComplete: KEEP_ENDED,
  removeOnFail: KEEP_ENDED,
} as const;

export type FlowSender = Producer;
export type JobQueue = Pick<
  Queue,
  | 'name'
  | 'add'
  | 'getJob'
  | 'getJobCounts'
  | 'remove'
  | 'obliterate'
  | 'pause'
  | 'resume'
  | 'close'
  | 'waitUntilReady'
>;
export interface JobEvents extends Pick<QueueEvents, 'close' | 'waitUntilReady'> {
  on<E extends keyof QueueEventsListener>(event: E, listener: QueueEventsListener[E]): unknown;
  off<E extends keyof QueueEventsListener>(event: E, listener: QueueEventsListener[E]): unknown;
}
export type { Consumer };

export interface ConsumerOptions {
  /** Jobs that run at the same time; of an agent as many as it has slots and extra slots. */
  readonly concurrency: number;
}

/**
 * All that an agent needs of a queue: structurally typed, so that an agent in the coordinator's process is
 * handed the coordinator's wiring, and one in its own process builds its own from a Redis address.
 */
export interface ShardQueueWiring {
  createConsumer<D, R>(name: string, processor: Processor<D, R>, options: ConsumerOptions): Consumer;
}

export interface QueueWiring extends ShardQueueWiring {
  readonly kind: 'redis' | 'embedded';
  /** Adds fail at once, not late, while Redis is away; whenever it is back they succeed. */
  createFlowProducer(): FlowSender;
  createQueue(name: string): JobQueue;
  createQueueEvents(name: string): JobEvents;
  /** Closes everything that was created here, consumers first, then the connections. Idempotent. */
  close(): Promise<void>;
}

export interface BullWiringParts<B extends IQueueBackend, C> {
  readonly kind: QueueWiring['kind'];
  readonly factory: BackendFactory<B, C>;
  /** For consumers and events. */
  readonly connection: C;
  /** For adding. */
  readonly producerConnection: C;
  /** Resolves when that has been dialled anew, or cannot be now. */
  readonly redialProducers: () => Promise<void>;
  /** Before every key in Redis; PostgreSQL keeps the queue in its own schema instead. */
  readonly prefix: string;
  readonly onError: (error: Error) => void;
  readonly closeConnections: () => Promise<void>;
}

interface Closable {
  close(): Promise<void>;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

export class BullWiring<B extends IQueueBackend, C> implements QueueWiring {
  readonly kind: QueueWiring['kind'];
  readonly #parts: BullWiringParts<B, C>;
  readonly #classes: BackendClasses<B, C>;
  readonly #consumers = new Set<Closable>();
  readonly #others = new Set<Closable>();
  readonly #remade: RemadeConsumer[] = [];
  #closing: Promise<void> | undefined;

  constructor(parts: BullWiringParts<B, C>) {
    this.kind = parts.kind;
    this.#parts = parts;
    this.#classes = withBackend(parts.factory);
  }

  createFlowProducer(): FlowSender {
    const { prefix, producerConnection: connection } = this.#parts;
    return new RemadeProducer({
      make: () => this.#own(new this.#classes.FlowProducer({ prefix, connection }), this.#others),
      redial: () => this.#parts.redialProducers(),
      onError: (error) => this.#report(error),
    });
  }

  createQueue(name: string): JobQueue {
    const { prefix, producerConnection: connection } = this.#parts;
    const queue = new this.#classes.Queue(name, { prefix, connection });
    return this.#own(queue, this.#others);
  }

  createQueueEvents(name: string): JobEvents {
    const { prefix, connection } = this.#parts;
    const events = new this.#classes.QueueEvents(name, { prefix, connection });
    return this.#own(events, this.#others, () => events.waitUntilReady());
  }

  createConsumer<D, R>(name: string, processor: Processor<D, R>, options: ConsumerOptions): Consumer {
    const { prefix, connection } = this.#parts;
    const make = () => {
      const worker = new this.#classes.Worker<D, R>(name, processor, {
        prefix,
        connection,
        autorun: false,
        concurrency: options.concurrency,
        // A stalled shard must never start again by itself: that would double its load (design, section 5).
        maxStalledCount: 0,
        lockDuration: LOCK_DURATION_MS,
        lockRenewTime: LOCK_RENEW_MS,
        runRetryDelay: RUN_RETRY_MS,
      });
      return this.#own(worker, this.#consumers, () => worker.waitUntilReady());
    };
    const onError = (error: unknown): void => this.#report(error);
    const consumer = new RemadeConsumer({ make, onError, retryMs: RUN_RETRY_MS });
    this.#remade.push(consumer);
    return consumer;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (const consumer of this.#remade) consumer.stay();
    for (const group of [this.#consumers, this.#others]) {
      const closings = [...group].map((each) => each.close().catch((error: unknown) => this.#report(error)));
      await within(CLOSE_TIMEOUT_MS, Promise.all(closings));
    }
    await this.#parts.closeConnections();
  }

  /** What fails while closing must not keep the rest from being closed. */
  #report(error: unknown): void {
    this.#parts.onError(error instanceof Error ? error : new Error(String(error)));
  }

  /**
   * Remembers it until it is closed, by its owner or by `close`, and reports its errors until then.
   * @param isOpen of what takes a connection for itself: closed before it has that, BullMQ takes it all the same,
   *   keeps it for good, and the end of the pool waits for it.
   */
  #own<T extends Closable>(created: T, group: Set<Closable>, isOpen?: () => Promise<unknown>): T {
    let isClosing = false;
    group.add(created);
    created.on('error', (error) => {
      // BullMQ also reports that the connection it is just closing has ended.
      if (!isClosing) this.#parts.onError(error);
    });
    const close = created.close.bind(created);
    created.close = async (...args: []): Promise<void> => {
      isClosing = true;
      group.delete(created);
      // What never opened has nothing to keep.
      if (isOpen !== undefined)
        await within(
          OPEN_TIMEOUT_MS,
          isOpen().catch(() => undefined),
        );
      await close(...args);
    };
    return created;
  }
}
