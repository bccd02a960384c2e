/**
 * A consumer that an outage cannot break for good. BullMQ opens a worker once and keeps how that went; one whose
 * carrier was away in that instant would ask for jobs again and again, without a pause in which anything else could
 * run. So it asks only once it is open, and is made again until it is.
 */
import type { Worker } from 'bullmq';

type OneConsumer = Pick<Worker, 'run' | 'pause' | 'close' | 'waitUntilReady'>;
export interface Consumer extends Pick<Worker, 'pause' | 'close'> {
  waitUntilReady(): Promise<unknown>;
}

export interface RemadeConsumerParts {
  /** Makes one that does not run by itself. */
  readonly make: () => OneConsumer;
  readonly onError: (error: unknown) => void;
  readonly retryMs: number;
}

export class RemadeConsumer implements Consumer {
  readonly #parts: RemadeConsumerParts;
  #current: OneConsumer;
  #isEnding = false;
  #retryTimer: NodeJS.Timeout | undefined;
  #tellOpen: () => void = () => undefined;
  readonly #opened = new Promise<void>((resolve) => {
    this.#tellOpen = resolve;
  });

  constructor(parts: RemadeConsumerParts) {
    this.#parts = parts;
    this.#current = parts.make();
    void this.#runOnceOpen();
  }

  /** Resolves when it asks for jobs; not before the carrier is there. */
  waitUntilReady(): Promise<void> {
    return this.#opened;
  }

  /** Takes no more jobs. */
  async pause(...args: Parameters<Consumer['pause']>): Promise<void> {
    this.stay();
    await this.#current.pause(...args);
  }

  async close(...args: Parameters<Consumer['close']>): Promise<void> {
    this.stay();
    await this.#current.close(...args);
  }

  /** It is not made again, and one that opens from now on asks for nothing. */
  stay(): void {
    this.#isEnding = true;
    clearTimeout(this.#retryTimer);
  }

  async #runOnceOpen(): Promise<void> {
    const { onError, retryMs } = this.#parts;
    const consumer = this.#current;
    try {
      await consumer.waitUntilReady();
    } catch (error) {
      if (this.#isEnding) return;
      onError(error);
      this.#retryTimer = setTimeout(() => this.#makeAgain(consumer), retryMs);
      return;
    }
    if (this.#isEnding) return;
    this.#tellOpen();
    consumer.run().catch(onError);
  }

  #makeAgain(broken: OneConsumer): void {
    this.#current = this.#parts.make();
    broken.close().catch(this.#parts.onError);
    void this.#runOnceOpen();
  }
}
