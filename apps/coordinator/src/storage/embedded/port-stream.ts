import { Duplex } from 'node:stream';
import type { MessagePort } from 'node:worker_threads';

/**
 * A message port that looks like the TCP socket that `pg` expects. Each message carries bytes; null is the
 * end. `pg` calls a few methods of sockets that mean nothing on a port; they do nothing here.
 * Keep-alive is answered as if it were set: a port cannot die unnoticed, and BullMQ asks for it before it
 * trusts a LISTEN connection without polling.
 */
export class PortStream extends Duplex {
  readonly #port: MessagePort;

  constructor(port: MessagePort) {
    super({ allowHalfOpen: false });
    this.#port = port;
    port.on('message', (bytes: Uint8Array | null) => {
      this.push(bytes === null ? null : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    });
    port.on('close', () => this.destroy());
  }

  connect(): this {
    // Deferred because `pg` attaches its listener after this call.
    queueMicrotask(() => this.emit('connect'));
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    this.#port.ref();
    return this;
  }

  unref(): this {
    this.#port.unref();
    return this;
  }

  override _read(): void {
    // Bytes are pushed as they come: answers are bounded by the questions of this very client.
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#post(Uint8Array.from(chunk));
    done();
  }

  override _writev(chunks: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.#post(Uint8Array.from(Buffer.concat(chunks.map(({ chunk }) => chunk))));
    done();
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#port.close();
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#port.close();
    done(error);
  }

  #post(bytes: Uint8Array<ArrayBuffer>): void {
    this.#port.postMessage(bytes, [bytes.buffer]);
  }
}
