// A way between an agent and its coordinator that can fall silent: nothing is refused or closed, nothing arrives.

import { connect, createServer, type Server, type Socket } from 'node:net';

export class SilentRelay {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isSilent = false;
  url = '';

  private constructor(targetUrl: string) {
    const { hostname, port } = new URL(targetUrl);
    this.#server = createServer((inner) => {
      const outer = connect(Number(port), hostname);
      for (const socket of [inner, outer]) {
        this.#sockets.add(socket);
        if (this.#isSilent) socket.pause();
        socket.on('error', () => undefined);
        socket.once('close', () => this.#sockets.delete(socket));
      }
      inner.on('data', (bytes) => outer.write(bytes));
      outer.on('data', (bytes) => inner.write(bytes));
      inner.once('close', () => outer.destroy());
      outer.once('close', () => inner.destroy());
    });
  }

  static async start(targetUrl: string): Promise<SilentRelay> {
    const relay = new SilentRelay(targetUrl);
    await new Promise<void>((resolve) => relay.#server.listen(0, '127.0.0.1', resolve));
    const address = relay.#server.address();
    if (address === null || typeof address === 'string') throw new Error('no TCP address');
    relay.url = `http://127.0.0.1:${address.port}`;
    return relay;
  }

  fallSilent(): void {
    this.#isSilent = true;
    for (const socket of this.#sockets) socket.pause();
  }

  speakAgain(): void {
    this.#isSilent = false;
    for (const socket of this.#sockets) socket.resume();
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}
