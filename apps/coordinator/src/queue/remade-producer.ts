/**
 * A producer that an outage cannot break for good. BullMQ opens each of its objects once and keeps how that went: one
 * whose Redis was away in that instant answers every later call with the failure of then, although Redis is back.
 */
import type { FlowProducer } from 'bullmq';
import { QueueError } from './queue-error.js';

/** One that is made during an outage opens when that is over; whoever adds is not to wait for it. */
const OPEN_TIMEOUT_MS = 3_000;

export type Producer = Pick<FlowProducer, 'add' | 'getFlow' | 'close' | 'waitUntilReady'>;

export interface RemadeProducerParts {
  readonly make: () => Producer;
  /** Dials the connection of all of them anew. */
  readonly redial: () => Promise<void>;
  /** Told when one that was given up could not be closed. */
  readonly onError: (error: unknown) => void;
}

export class RemadeProducer implements Producer {
  readonly #parts: RemadeProducerParts;
  #current: Producer;

  constructor(parts: RemadeProducerParts) {
    this.#parts = parts;
    this.#current = parts.make();
  }

  /**
   * A flow is one transaction, in which ioredis does not see that Redis has not, or no longer, the scripts that were
   * sent over this connection: a server that was full at the first of them, `SCRIPT FLUSH`. On a new one it sends them.
   */
  async add(...args: Parameters<Producer['add']>): ReturnType<Producer['add']> {
    const producer = await this.#open();
    try {
      return await producer.add(...args);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.includes('NOSCRIPT')) throw error;
    }
    await this.#parts.redial();
    return (await this.#open()).add(...args);
  }

  async getFlow(...args: Parameters<Producer['getFlow']>): ReturnType<Producer['getFlow']> {
    return (await this.#open()).getFlow(...args);
  }

  async waitUntilReady(): Promise<void> {
    await this.#open();
  }

  close(): Promise<void> {
    return this.#current.close();
  }

  /** The failure of an earlier time says nothing about now, so a broken producer is replaced and asked once more. */
  async #open(): Promise<Producer> {
    const producer = this.#current;
    try {
      await openInTime(producer);
      return producer;
    } catch (error) {
      if (error instanceof QueueError) throw error;
      this.#replace(producer);
    }
    const next = this.#current;
    await openInTime(next);
    return next;
  }

  /** Callers that found the same one broken share the next. */
  #replace(broken: Producer): void {
    if (this.#current !== broken) return;
    this.#current = this.#parts.make();
    broken.close().catch(this.#parts.onError);
  }
}

/** @throws QueueError when it takes too long, and what BullMQ kept when it failed. */
async function openInTime(producer: Producer): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const isLate = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new QueueError('it does not answer')), OPEN_TIMEOUT_MS);
  });
  try {
    await Promise.race([producer.waitUntilReady(), isLate]);
  } finally {
    clearTimeout(timer);
  }
}
