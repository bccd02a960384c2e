// A target that knows how long each request was with it: from its arrival to the write of its reply. It answers one
// after the other on each connection, so that a request in a pipeline also waits for those before it.

import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { bodyOf, head } from './reply-bytes.js';
import { RequestReader } from './request-reader.js';

const REPLY = Buffer.concat([Buffer.from(head({ headers: [['Content-Length', '100']] })), bodyOf(100)]);

export class StampingTarget {
  /** In µs, in the order of the replies. No client can measure less. */
  readonly stampsUs: number[] = [];
  /** When each request arrived, in µs of one clock, in the order of arrival. */
  readonly arrivalsUs: number[] = [];
  readonly #delayMs: number;
  readonly #sockets = new Set<Socket>();
  readonly #server: Server = createServer({ noDelay: true }, (socket) => this.#serve(socket));

  constructor(delayMs: number) {
    this.#delayMs = delayMs;
  }

  async start(): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(0, '127.0.0.1', resolve);
    });
    return (this.#server.address() as AddressInfo).port; // A TCP server has no other kind.
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #serve(socket: Socket): void {
    const reader = new RequestReader();
    const waiting: number[] = [];
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    // The engine closes what it does not need any more, with a request on its way where its time is over.
    socket.on('error', () => socket.destroy());
    const answerNext = (): void => {
      setTimeout(() => {
        if (socket.destroyed) return;
        const arrivedUs = waiting.shift() ?? 0;
        // Before the write, which hands the reply to the client.
        this.stampsUs.push(performance.now() * 1_000 - arrivedUs);
        socket.write(REPLY);
        if (waiting.length > 0) answerNext();
      }, this.#delayMs);
    };
    socket.on('data', (piece: Buffer) => {
      const nowUs = performance.now() * 1_000;
      for (const _ of reader.push(piece)) {
        this.arrivalsUs.push(nowUs);
        waiting.push(nowUs);
        if (waiting.length === 1) answerNext();
      }
    });
  }
}
