import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { BroadsideError } from '@broadside/shared';
import type { Logger } from 'pino';
import type { Gate } from '../access/gate.js';
import type { Caller } from '../access/principal.js';
import { neededRoleOf } from '../access/route-roles.js';
import { codeOfStatus, errorReplyOf } from './error-body.js';
import { pathOf } from './path.js';
import { RefusalLog } from './refusal-log.js';

/** What is left of an upgrade when its caller has been let in. */
export interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly caller: Caller;
}

export type UpgradeHandler = (upgrade: Upgrade) => void;

/**
 * Owns the `upgrade` event of the HTTP server: two listeners on it would both answer. Each WebSocket path has
 * one handler, which sees only callers that the gate has let in; every other path gets a 404 instead of silence.
 */
export class UpgradeRouter {
  readonly #gate: Gate;
  readonly #refusals: RefusalLog;
  readonly #handlers = new Map<string, UpgradeHandler>();

  constructor(gate: Gate, log: Logger) {
    this.#gate = gate;
    this.#refusals = new RefusalLog(log);
  }

  route(path: string, handler: UpgradeHandler): void {
    if (neededRoleOf('UPGRADE', path) === undefined) throw new Error(`${path} has no line in route-roles.ts`);
    this.#handlers.set(path, handler);
  }

  attach(server: Server): void {
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      // Without a listener a reset during the handshake would end the process.
      socket.on('error', () => socket.destroy());
      this.#take(request, socket, head);
    });
  }

  #take(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const path = pathOf(request);
    const handler = this.#handlers.get(path);
    const needed = neededRoleOf('UPGRADE', path);
    if (handler === undefined || needed === undefined || needed === 'nothing') {
      refuseUpgrade(socket, 404, 'Not Found');
      return;
    }
    let caller: Caller;
    try {
      caller = this.#gate.admit(request, needed);
    } catch (error) {
      if (!(error instanceof BroadsideError)) throw error;
      const who = needed === 'agent' ? 'an agent' : 'a watcher';
      this.#refusals.warn(
        `refused ${who} from ${request.socket.remoteAddress ?? 'nowhere'}: ${error.message}`,
      );
      const { status } = errorReplyOf(error);
      refuseUpgrade(socket, status, STATUS_CODES[status] ?? 'Refused', error.message);
      return;
    }
    handler({ request, socket, head, caller });
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
