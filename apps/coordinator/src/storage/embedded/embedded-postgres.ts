import type { Duplex } from 'node:stream';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { StoreError } from '../store-error.js';
import { PortStream } from './port-stream.js';
import type { MessageFromThread, MessageToThread, ThreadOptions } from './thread-messages.js';

/** A clean shutdown writes one checkpoint; longer than this means that the thread hangs. */
const CLOSE_TIMEOUT_MS = 10_000;

/**
 * PostgreSQL inside this process, on a thread of its own. `connect` gives the byte stream of one more
 * client, to be used as `stream` of a `pg` pool; it may be called before the start has ended.
 */
export class EmbeddedPostgres {
  readonly #thread: Worker;
  readonly #streams = new Set<PortStream>();
  /**
   * Resolves when statements run, with the newest migration of the cluster if it was made just now; rejects
   * with a StoreError when it cannot start.
   */
  readonly ready: Promise<{ readonly freshSchemaVersion: string | undefined }>;
  readonly #exit: Promise<void>;
  #failure: Error | undefined;
  #isClosing = false;

  private constructor(options: ThreadOptions, onFailure: (error: Error) => void) {
    this.#thread = new Worker(new URL('./postgres-thread.js', import.meta.url), {
      workerData: options,
      name: 'broadside-store',
      // Flags of the main program (an evaluated script, an inspector) are not meant for this thread.
      execArgv: [],
    });
    this.#exit = new Promise((resolve) => this.#thread.once('exit', () => resolve()));
    this.ready = new Promise((resolve, reject) => {
      let isReady = false;
      const failed = (error: Error): void => {
        reject(error);
        // Before it was ready, whoever waits for that is told, and nobody else.
        this.#fail(error, isReady ? onFailure : () => undefined);
      };
      this.#thread.on('message', (message: MessageFromThread) => {
        if (message.kind === 'ready') {
          isReady = true;
          resolve(message);
        }
        if (message.kind === 'failed') failed(new StoreError(message.reason));
      });
      this.#thread.on('error', failed);
      this.#thread.on('exit', (code) =>
        failed(new StoreError(`the thread of the store ended with code ${code}`)),
      );
    });
    // Whoever opens the store awaits `ready`; this only keeps a failure before that from being "unhandled".
    this.ready.catch(() => undefined);
  }

  /** @param onFailure called once when the engine dies later on, never after `close`. */
  static start(options: ThreadOptions, onFailure: (error: Error) => void): EmbeddedPostgres {
    return new EmbeddedPostgres(options, onFailure);
  }

  connect(): Duplex {
    const { port1, port2 } = new MessageChannel();
    const stream = new PortStream(port1);
    if (this.#failure !== undefined || this.#isClosing) {
      stream.destroy(this.#failure ?? new Error('the store is closed'));
      return stream;
    }
    this.#streams.add(stream);
    stream.once('close', () => this.#streams.delete(stream));
    this.#tell({ kind: 'connect', port: port2 }, port2);
    return stream;
  }

  /** Ends all clients and shuts the database down cleanly. Idempotent. */
  async close(): Promise<void> {
    if (!this.#isClosing) {
      this.#isClosing = true;
      for (const stream of this.#streams) stream.destroy();
      this.#tell({ kind: 'close' });
    }
    const timer = setTimeout(() => void this.#thread.terminate(), CLOSE_TIMEOUT_MS);
    await this.#exit;
    clearTimeout(timer);
  }

  #fail(error: Error, onFailure: (error: Error) => void): void {
    if (this.#failure !== undefined || this.#isClosing) return;
    this.#failure = error;
    for (const stream of this.#streams) stream.destroy(error);
    onFailure(error);
  }

  #tell(message: MessageToThread, ...transfer: MessagePort[]): void {
    this.#thread.postMessage(message, transfer);
  }
}
