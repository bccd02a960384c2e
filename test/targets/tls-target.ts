// A well-behaved target over TLS that remembers what each handshake brought: 100-byte replies, keep-alive as
// long as the client likes.

import type { AddressInfo, ListenOptions, Socket } from 'node:net';
import { createServer, type Server, type TLSSocket, type TlsOptions } from 'node:tls';
import { RequestReader } from './request-reader.js';

export interface SeenHandshake {
  /** Empty where the client sent no name. */
  readonly serverName: string;
  readonly alpn: string;
  readonly protocol: string;
  readonly cipher: string;
  readonly isResumed: boolean;
  /** Common name of the client's certificate; empty without one. */
  readonly clientName: string;
}

const BODY = 'x'.repeat(100);

export class TlsTarget {
  readonly handshakes: SeenHandshake[] = [];
  /** Errors of connections that came to no handshake, by their code. */
  readonly failures: string[] = [];
  /** Heads of all requests. */
  readonly heads: string[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(options: TlsOptions) {
    this.#server = createServer({ ALPNProtocols: ['h2', 'http/1.1'], ...options }, (socket) =>
      this.#accept(socket),
    );
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    this.#server.on('tlsClientError', (error: NodeJS.ErrnoException) => {
      this.failures.push(error.code ?? error.message);
    });
  }

  async start(where: ListenOptions = { port: 0, host: '127.0.0.1' }): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(where, resolve);
    });
    const address: AddressInfo | string | null = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  async stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #accept(socket: TLSSocket): void {
    const { servername } = socket;
    this.handshakes.push({
      serverName: typeof servername === 'string' ? servername : '',
      alpn: socket.alpnProtocol === false || socket.alpnProtocol === null ? '' : socket.alpnProtocol,
      protocol: socket.getProtocol() ?? '',
      cipher: socket.getCipher().name,
      isResumed: socket.isSessionReused(),
      clientName: String(socket.getPeerCertificate().subject?.CN ?? ''),
    });
    socket.on('error', () => undefined);
    const reader = new RequestReader();
    socket.on('data', (piece: Buffer) => {
      for (const request of reader.push(piece)) {
        this.heads.push(request.head);
        const connection = request.isKeptAlive ? 'keep-alive' : 'close';
        const head = `HTTP/1.1 200 OK\r\nServer: tls-target\r\nContent-Length: ${BODY.length}\r\n`;
        socket.write(`${head}Connection: ${connection}\r\n\r\n${BODY}`);
        if (!request.isKeptAlive) socket.end();
      }
    });
  }
}
