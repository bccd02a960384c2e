// A small HTTP proxy: requests in absolute form, and CONNECT tunnels, with Basic credentials where it wants
// them. What a test needs of its misbehaviour is an option.

import { createServer as createHttpServer, type IncomingMessage, request, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

export interface ForwardProxyOptions {
  /** Wanted in Proxy-Authorization. */
  readonly credentials?: string;
  /** Sent instead of opening a tunnel, byte for byte; the connection is closed after it. */
  readonly connectReply?: string;
  /** Never answers CONNECT. */
  readonly isSilent?: boolean;
  /** Sends the reply to a good CONNECT one byte at a time. */
  readonly isSlow?: boolean;
}

export class ForwardProxy {
  /** Request lines in the order of arrival, CONNECT included. */
  readonly requestLines: string[] = [];
  readonly authorizations: string[] = [];
  readonly #options: ForwardProxyOptions;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(options: ForwardProxyOptions = {}) {
    this.#options = options;
    this.#server = createHttpServer((incoming, outgoing) => {
      if (!this.#admits(incoming)) {
        outgoing.writeHead(407, { 'proxy-authenticate': 'Basic realm="test"' }).end();
        return;
      }
      const { 'proxy-authorization': _, ...headers } = incoming.headers;
      const onward = request(incoming.url ?? '', { method: incoming.method, headers }, (reply) => {
        outgoing.writeHead(reply.statusCode ?? 502, reply.headers);
        reply.pipe(outgoing);
      });
      onward.once('error', () => outgoing.destroy());
      incoming.pipe(onward);
    });
    this.#server.on('connection', (socket) => this.#keep(socket));
    this.#server.on('connect', (incoming, socket: Socket, early: Buffer) => {
      this.#tunnel(incoming, socket, early);
    });
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(0, '127.0.0.1', resolve);
    });
    // A TCP server has no other kind of address.
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => this.#sockets.delete(socket));
  }

  #admits(incoming: IncomingMessage): boolean {
    const authorization = incoming.headers['proxy-authorization'] ?? '';
    this.requestLines.push(`${incoming.method} ${incoming.url} HTTP/${incoming.httpVersion}`);
    this.authorizations.push(authorization);
    const { credentials } = this.#options;
    if (credentials === undefined) return true;
    return authorization === `Basic ${Buffer.from(credentials).toString('base64')}`;
  }

  #tunnel(incoming: IncomingMessage, socket: Socket, early: Buffer): void {
    const isAdmitted = this.#admits(incoming);
    const { connectReply, isSilent = false } = this.#options;
    if (isSilent) return;
    if (connectReply !== undefined) socket.end(connectReply);
    else if (!isAdmitted) socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    else {
      const { hostname, port } = new URL(`http://${incoming.url}`);
      const onward = connect(Number(port), hostname.replace(/^\[|\]$/g, ''), () => {
        void this.#confirm(socket).then(() => {
          onward.write(early);
          onward.pipe(socket).pipe(onward);
        });
      });
      this.#keep(onward);
      onward.once('close', () => socket.destroy());
      socket.once('close', () => onward.destroy());
    }
  }

  async #confirm(socket: Socket): Promise<void> {
    const reply = 'HTTP/1.1 200 Connection established\r\nX-Proxy: yes\r\n\r\n';
    const pieces = this.#options.isSlow === true ? reply.split('') : [reply];
    for (const piece of pieces) await new Promise((resolve) => socket.write(piece, resolve));
  }
}
