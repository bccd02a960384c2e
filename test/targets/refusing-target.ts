import { createServer } from 'node:net';
import type { Target, TargetCounters } from './target-server.js';

/** A port on which nobody listens: it was bound once and let go, so connecting to it is refused. */
export class RefusingTarget implements Target {
  readonly counters: Readonly<TargetCounters> = {
    connectionsAccepted: 0,
    connectionsOpen: 0,
    connectionsOpenMax: 0,
    requestsSeen: 0,
    repliesSent: 0,
    bytesReceived: 0,
    socketErrors: 0,
    requestsPerConnection: [],
  };
  #port: number | undefined;

  async start(): Promise<{ readonly port: number }> {
    const server = createServer();
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    const address = server.address();
    await new Promise<void>((resolve) => server.close(() => resolve()));
    if (address === null || typeof address === 'string') throw new Error('no TCP address');
    this.#port = address.port;
    return { port: address.port };
  }

  get port(): number {
    if (this.#port === undefined) throw new Error('target: not started');
    return this.#port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async stop(): Promise<void> {
    // Nothing was left open.
  }
}
