import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { pathOf } from './access.js';
import { codeOfStatus } from './error-body.js';

export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/**
 * Owns the `upgrade` event of the HTTP server: two listeners on it would both answer. Each WebSocket path has
 * one handler; every other path gets a 404 instead of silence.
 */
export class UpgradeRouter {
  readonly #handlers = new Map<string, UpgradeHandler>();

  route(path: string, handler: UpgradeHandler): void {
    this.#handlers.set(path, handler);
  }

  attach(server: Server): void {
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      // Without a listener a reset during the handshake would end the process.
      socket.on('error', () => socket.destroy());
      const handler = this.#handlers.get(pathOf(request));
      if (handler === undefined) refuseUpgrade(socket, 404, 'Not Found');
      else handler(request, socket, head);
    });
  }
}

/** Answers an upgrade that is not granted, and closes. */
export function refuseUpgrade(socket: Duplex, status: number, text: string, message = text): void {
  const body = JSON.stringify({ error: { code: codeOfStatus(status), message } });
  const challenge = status === 401 ? 'WWW-Authenticate: Bearer\r\n' : '';
  socket.end(
    `HTTP/1.1 ${status} ${text}\r\n${challenge}Connection: close\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
