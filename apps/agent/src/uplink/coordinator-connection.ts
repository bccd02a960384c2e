/**
 * One WebSocket connection to the coordinator, from the first packet to its end. The only file that imports
 * `ws`. Every message is checked before anybody sees it.
 *
 *   connecting ── open, hello ──► greeting ── welcome ──► greeted ──► closed
 *        └──────── refused, wrong status, silence, rejected ────────────▲
 */

import {
  type CoordinatorMessage,
  coordinatorMessageSchema,
  LIMITS,
  PROTOCOL_VERSION,
  ROUTES,
} from '@broadside/shared';
import { WebSocket } from 'ws';
import type { AgentOptions } from '../agent-options.js';
import {
  type ConnectFailure,
  failureOfError,
  failureOfRejection,
  failureOfStatus,
} from './connect-failure.js';

export type Welcome = Extract<CoordinatorMessage, { kind: 'welcome' }>;
/** What may come after the greeting. */
export type LaterMessage = Exclude<CoordinatorMessage, { kind: 'welcome' | 'rejected' }>;

export interface ConnectionOptions {
  readonly coordinatorUrl: URL;
  readonly joinToken: string;
  readonly trust: AgentOptions['trust'];
  /** The `hello` message as JSON text. */
  readonly hello: () => string;
  /** Longest time until the welcome. */
  readonly greetingTimeoutMs: number;
  readonly onWelcome: (welcome: Welcome) => void;
  readonly onMessage: (message: LaterMessage) => void;
  /** Called once, last of all. The failure says why it ended, except when `close` was called. */
  readonly onClosed: (failure: ConnectFailure | undefined) => void;
}

/** Frames wait in the outbox, where they can be merged, rather than in the socket's buffer. */
const MAX_BUFFERED_BYTES = 4 * LIMITS.maxFrameBytes;
/** How long the other side may take to answer our goodbye. */
const CLOSE_TIMEOUT_MS = 1_000;

export class CoordinatorConnection {
  readonly #options: ConnectionOptions;
  readonly #socket: WebSocket;
  readonly #origin: string;
  readonly #greetingTimer: NodeJS.Timeout;
  #closeTimer: NodeJS.Timeout | undefined;
  #isGreeted = false;
  /** The first reason to end counts; what the socket reports while it is torn down does not. */
  #failure: ConnectFailure | undefined;
  #isClosing = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#origin = options.coordinatorUrl.origin;
    const url = new URL(ROUTES.agentSocket, options.coordinatorUrl.origin);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    this.#socket = new WebSocket(url, {
      headers: { authorization: `Bearer ${options.joinToken}` },
      ...trustOptions(options.trust),
      maxPayload: LIMITS.maxMessageBytes,
      perMessageDeflate: false,
    });
    this.#greetingTimer = setTimeout(
      () => this.fail(failureOfError(this.#origin, new Error('no answer to the greeting'))),
      options.greetingTimeoutMs,
    );
    this.#listen();
  }

  get isGreeted(): boolean {
    return this.#isGreeted && !this.#isClosing;
  }

  get hasRoom(): boolean {
    return this.isGreeted && this.#socket.bufferedAmount <= MAX_BUFFERED_BYTES;
  }

  /** Sends text or a binary frame; `onWritten` is called when it has left our buffer, or never. */
  send(payload: string | Uint8Array, onWritten?: () => void): void {
    this.#socket.send(payload, (error) => {
      // A failed write is followed by the end of the connection, which is handled there.
      if (error === null || error === undefined) onWritten?.();
    });
  }

  /** Ends the connection in an orderly way. */
  close(): void {
    this.#end(() => this.#socket.close(1000));
  }

  /** Ends the connection for a reason of ours. */
  fail(failure: ConnectFailure): void {
    this.#failure ??= failure;
    this.#end(() => this.#socket.terminate());
  }

  #end(how: () => void): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#closeTimer = setTimeout(() => this.#socket.terminate(), CLOSE_TIMEOUT_MS);
    how();
  }

  #listen(): void {
    const socket = this.#socket;
    socket.on('unexpected-response', (_request, response) => {
      response.resume();
      this.fail(failureOfStatus(this.#origin, response.statusCode ?? 0));
    });
    socket.on('error', (error) => {
      if (!this.#isClosing) this.#failure ??= failureOfError(this.#origin, error);
    });
    socket.on('open', () => this.send(this.#options.hello()));
    socket.on('message', (payload: Buffer, isBinary: boolean) => {
      if (!this.#isClosing) this.#receive(isBinary ? undefined : readMessage(payload));
    });
    socket.once('close', () => {
      clearTimeout(this.#greetingTimer);
      clearTimeout(this.#closeTimer);
      const wasOurs = this.#isClosing;
      this.#isClosing = true;
      const broken = failureOfError(this.#origin, new Error('the connection was closed'));
      this.#options.onClosed(this.#failure ?? (wasOurs ? undefined : broken));
    });
  }

  #receive(message: CoordinatorMessage | undefined): void {
    if (message === undefined) {
      this.fail(failureOfError(this.#origin, new Error('it sent what is no message of this protocol')));
      return;
    }
    if (message.kind === 'rejected') {
      this.fail(failureOfRejection(this.#origin, message.reason));
    } else if (message.kind === 'welcome') {
      this.#welcome(message);
    } else if (this.#isGreeted) {
      this.#options.onMessage(message);
    }
  }

  #welcome(message: Welcome): void {
    if (this.#isGreeted) return;
    if (message.protocol !== PROTOCOL_VERSION) {
      const { protocol, version } = message;
      const reason = `it speaks protocol ${protocol} (version ${version}), this agent ${PROTOCOL_VERSION}`;
      this.fail(failureOfRejection(this.#origin, reason));
      return;
    }
    clearTimeout(this.#greetingTimer);
    this.#isGreeted = true;
    this.#options.onWelcome(message);
  }
}

function trustOptions(trust: AgentOptions['trust']): { ca?: string; rejectUnauthorized?: boolean } {
  if (trust === undefined) return {};
  return trust === 'own-process' ? { rejectUnauthorized: false } : { ca: trust.ca };
}

function readMessage(payload: Buffer): CoordinatorMessage | undefined {
  let value: unknown;
  try {
    value = JSON.parse(payload.toString('utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  const result = coordinatorMessageSchema.safeParse(value);
  return result.success ? result.data : undefined;
}

/** True for the failure that means "never again", as opposed to "not now". */
export function isRejection(failure: ConnectFailure): boolean {
  return failure.error.code === 'conflict';
}
