/**
 * One agent's WebSocket, from the upgrade to its end: the greeting, then checked messages and frames. What is
 * not a message of ours closes the socket; nothing that arrives here can throw.
 */
import {
  type AgentMessage,
  agentMessageSchema,
  BROADSIDE_VERSION,
  type CoordinatorMessage,
  FrameError,
  framesOf,
  type Interval,
  IntervalDecoder,
  LIMITS,
  PROTOCOL_VERSION,
} from '@broadside/shared';
import { WebSocket } from 'ws';
import { AckBundle } from './ack-bundle.js';
import type { AgentLink, Hello } from './agent-registry.js';

/** WebSocket close codes (RFC 6455 7.4.1). */
export const CLOSE = { goingAway: 1001, notAccepted: 1003, policy: 1008, internal: 1011 } as const;

const HELLO_TIMEOUT_MS = 5_000;
/** An agent that does not read its few small messages is not there any more. */
const MAX_BUFFERED_BYTES = 4 * LIMITS.maxMessageBytes;

/** One for all sockets: an interval is added up before the next frame is looked at. */
const decoder = new IntervalDecoder();

export interface AgentSocketEvents {
  /** Greeted with the right protocol; the answer is sent by whoever receives this. */
  onHello(socket: AgentSocket, hello: Hello): void;
  onMessage(socket: AgentSocket, message: Exclude<AgentMessage, Hello>): void;
  /** The interval lives until this returns (`IntervalDecoder`); the frame may be kept. */
  onInterval(socket: AgentSocket, interval: Interval, frame: Uint8Array): void;
  /** It sent what is no message of this protocol, and is being closed. */
  onGarbage(socket: AgentSocket, reason: string): void;
  /** Something of ours failed over what it sent; its socket is being closed, everybody else goes on. */
  onDefect(socket: AgentSocket, error: unknown): void;
  /** Last of all, once. */
  onClosed(socket: AgentSocket): void;
}

export class AgentSocket implements AgentLink {
  readonly #socket: WebSocket;
  readonly #events: AgentSocketEvents;
  readonly #helloTimer: NodeJS.Timeout;
  readonly #acks = new AckBundle((message) => this.#sendNow(message));
  /** Undefined until the greeting. */
  #agentId: string | undefined;

  constructor(socket: WebSocket, events: AgentSocketEvents) {
    this.#socket = socket;
    this.#events = events;
    this.#helloTimer = setTimeout(() => this.#reject('no hello came in time'), HELLO_TIMEOUT_MS);
    // A message above maxPayload and the like: ws closes the socket by itself afterwards.
    socket.on('error', (error) => this.#events.onGarbage(this, error.message));
    socket.on('message', (payload: Buffer, isBinary: boolean) => {
      if (socket.readyState !== WebSocket.OPEN) return;
      try {
        this.#receive(payload, isBinary);
      } catch (error) {
        this.#events.onDefect(this, error);
        this.close(CLOSE.internal, 'a defect of the coordinator');
      }
    });
    socket.once('close', () => {
      clearTimeout(this.#helloTimer);
      this.#events.onClosed(this);
    });
  }

  get agentId(): string | undefined {
    return this.#agentId;
  }

  send(message: CoordinatorMessage): void {
    if (message.kind === 'ack') this.#acks.add(message);
    else this.#sendNow(message);
  }

  #sendNow(message: CoordinatorMessage): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    if (this.#socket.bufferedAmount > MAX_BUFFERED_BYTES) {
      this.#socket.terminate();
      return;
    }
    this.#socket.send(JSON.stringify(message));
  }

  close(code: number, reason: string): void {
    // The reason of a close frame has at most 123 bytes (RFC 6455 5.5).
    this.#socket.close(code, reason.slice(0, 120));
  }

  terminate(): void {
    this.#socket.terminate();
  }

  get isPaused(): boolean {
    return this.#socket.isPaused;
  }

  /** Reads nothing more until `resume`: the sender is held up by TCP itself. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  #receive(payload: Buffer, isBinary: boolean): void {
    if (isBinary) this.#receiveFrame(payload);
    else if (payload.length > LIMITS.maxMessageBytes) this.#garbage('a message is too large');
    else this.#receiveText(payload.toString('utf8'));
  }

  #receiveFrame(frame: Buffer): void {
    if (this.#agentId === undefined) {
      this.#garbage('a frame came before hello');
      return;
    }
    try {
      for (const each of framesOf(frame)) this.#events.onInterval(this, decoder.decode(each), each);
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.#garbage(error.message);
    }
  }

  #receiveText(text: string): void {
    const value = parseJson(text);
    if (this.#agentId === undefined && !this.#acceptsProtocolOf(value)) return;
    const result = agentMessageSchema.safeParse(value);
    if (!result.success) {
      const [issue] = result.error.issues;
      this.#garbage(`not a message: ${issue?.path.map(String).join('.') ?? ''} ${issue?.message ?? ''}`);
      return;
    }
    const message = result.data;
    if (message.kind === 'hello') this.#greet(message);
    else if (this.#agentId === undefined) this.#garbage('the first message must be hello');
    else this.#events.onMessage(this, message);
  }

  #greet(hello: Hello): void {
    if (this.#agentId !== undefined) {
      this.#garbage('hello came twice');
      return;
    }
    clearTimeout(this.#helloTimer);
    this.#agentId = hello.agentId;
    this.#events.onHello(this, hello);
  }

  /** Compares versions before anything else, because all other fields may differ between them. */
  #acceptsProtocolOf(value: unknown): boolean {
    if (typeof value !== 'object' || value === null || !('protocol' in value)) return true;
    const { protocol } = value;
    if (typeof protocol !== 'number' || protocol === PROTOCOL_VERSION) return true;
    const older = protocol < PROTOCOL_VERSION ? 'agent' : 'coordinator';
    this.#reject(
      `the agent speaks protocol ${protocol}, the coordinator (version ${BROADSIDE_VERSION}) ${PROTOCOL_VERSION}: ` +
        `update the ${older}`,
    );
    return false;
  }

  #reject(reason: string): void {
    clearTimeout(this.#helloTimer);
    this.send({ kind: 'rejected', reason });
    this.close(CLOSE.policy, reason);
  }

  #garbage(reason: string): void {
    this.#events.onGarbage(this, reason);
    this.close(CLOSE.notAccepted, reason);
  }
}

function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
