/**
 * The coordinator's end of the agent socket, for tests of the agent: a real WebSocket server on a free loopback
 * port that speaks the protocol and lets a test see what came and decide what is said. It stores intervals and
 * drops duplicates by number, as the coordinator does.
 */

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import {
  type AgentMessage,
  agentMessageSchema,
  type CoordinatorMessage,
  decodeInterval,
  framesOf,
  type Interval,
  OPEN_TARGETS,
  PROTOCOL_VERSION,
  type QueueAddress,
  ROUTES,
  type ShardAttempt,
  shardAttemptKey,
  type TargetPolicyTexts,
} from '@broadside/shared';
import { type WebSocket, WebSocketServer } from 'ws';
import { TestSigner } from '../support/shard-signer.js';

type Kind = AgentMessage['kind'];
type MessageOf<K extends Kind> = Extract<AgentMessage, { kind: K }>;

export interface CoordinatorEndOptions {
  readonly token?: string;
  readonly queue?: QueueAddress;
  /** Port of an earlier one that was closed, for a coordinator that comes back. */
  readonly port?: number;
  /** How far its clock is ahead of the agent's. */
  readonly clockAheadUs?: number;
  /** Where it lets load go; everywhere unless told. */
  readonly targets?: TargetPolicyTexts;
  readonly onHello?: (hello: MessageOf<'hello'>) => CoordinatorMessage;
}

export class CoordinatorEnd {
  /** False: intervals are stored, but not acknowledged. */
  isAcknowledging = true;
  /** False: clock probes get no answer, as behind a dead connection. */
  isAnswering = true;
  /** What an upgrade is answered with from now on, in place of a greeting. */
  refusal: string | undefined;
  refusedCount = 0;
  /** Signs the jobs that the agent believes. */
  readonly signer = new TestSigner();
  readonly seen: AgentMessage[] = [];
  readonly #server: Server;
  readonly #sockets = new WebSocketServer({ noServer: true });
  readonly #options: CoordinatorEndOptions;
  readonly #raw = new Set<Duplex>();
  readonly #stored = new Map<string, Map<number, Interval>>();
  readonly #waiters = new Set<() => void>();
  #closing: Promise<void> | undefined;

  private constructor(server: Server, options: CoordinatorEndOptions) {
    this.#server = server;
    this.#options = options;
    server.on('connection', (socket: Duplex) => {
      this.#raw.add(socket);
      socket.once('close', () => this.#raw.delete(socket));
    });
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      const { token = 'secret' } = options;
      const status =
        request.url === ROUTES.agentSocket
          ? request.headers.authorization === `Bearer ${token}`
            ? this.refusal
            : '401 Unauthorized'
          : '404 Not Found';
      if (status !== undefined) {
        this.refusedCount++;
        socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
        return;
      }
      this.#sockets.handleUpgrade(request, socket, head, (accepted) => this.#accept(accepted));
    });
  }

  static async open(options: CoordinatorEndOptions = {}): Promise<CoordinatorEnd> {
    const server = createServer((_request, response) => {
      response.statusCode = 404;
      response.end();
    });
    server.listen(options.port ?? 0, '127.0.0.1');
    await once(server, 'listening');
    return new CoordinatorEnd(server, options);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  nowUs(): number {
    return (performance.timeOrigin + performance.now()) * 1_000 + (this.#options.clockAheadUs ?? 0);
  }

  /** The messages of one kind so far. */
  all<K extends Kind>(kind: K): MessageOf<K>[] {
    return this.seen.filter((message): message is MessageOf<K> => message.kind === kind);
  }

  /** The first message of a kind (that fits), now or later. */
  async first<K extends Kind>(
    kind: K,
    fits: (message: MessageOf<K>) => boolean = () => true,
  ): Promise<MessageOf<K>> {
    await this.until(() => this.all(kind).some(fits), `a fitting ${kind}`);
    const found = this.all(kind).find(fits);
    if (found === undefined) throw new Error('unreachable');
    return found;
  }

  /** Waits until something holds; it is looked at whenever something has come. */
  until(holds: () => boolean, what: string, timeoutMs = 20_000): Promise<void> {
    if (holds()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiters.delete(look);
        reject(
          new Error(
            `waited ${timeoutMs} ms for ${what}; saw ${JSON.stringify(this.seen.map((m) => m.kind))}`,
          ),
        );
      }, timeoutMs);
      const look = (): void => {
        if (!holds()) return;
        clearTimeout(timer);
        this.#waiters.delete(look);
        resolve();
      };
      this.#waiters.add(look);
    });
  }

  say(message: CoordinatorMessage): void {
    this.sayRaw(JSON.stringify(message));
  }

  sayRaw(text: string | Buffer): void {
    for (const socket of this.#sockets.clients) socket.send(text);
  }

  /** The stored intervals of an attempt in order. */
  intervalsOf(attempt: ShardAttempt): Interval[] {
    const stored = this.#stored.get(shardAttemptKey(attempt)) ?? new Map<number, Interval>();
    return [...stored.values()].sort((a, b) => a.number - b.number);
  }

  /** Resolves with all intervals when the last one is stored. */
  async allIntervalsOf(attempt: ShardAttempt): Promise<Interval[]> {
    await this.until(() => this.intervalsOf(attempt).some(({ isLast }) => isLast), 'the last interval');
    return this.intervalsOf(attempt);
  }

  /** Breaks every connection as a crash would. */
  breakConnections(): void {
    for (const socket of this.#raw) socket.destroy();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#sockets.close();
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.breakConnections();
    await closed;
  }

  #accept(socket: WebSocket): void {
    socket.on('error', () => undefined);
    socket.on('message', (payload: Buffer, isBinary: boolean) => {
      if (isBinary) for (const frame of framesOf(payload)) this.#store(socket, decodeInterval(frame));
      else this.#hear(socket, agentMessageSchema.parse(JSON.parse(payload.toString('utf8'))));
      // Looking may remove the one that looks, which a Set allows while it is walked.
      for (const look of this.#waiters) look();
    });
  }

  #hear(socket: WebSocket, message: AgentMessage): void {
    this.seen.push(message);
    const answer = (reply: CoordinatorMessage): void => socket.send(JSON.stringify(reply));
    if (message.kind === 'hello') answer(this.#options.onHello?.(message) ?? this.#welcome());
    if (message.kind === 'clock-probe' && this.isAnswering) {
      answer({ kind: 'clock-reply', sentUs: message.sentUs, coordinatorUs: this.nowUs() });
    }
  }

  #welcome(): CoordinatorMessage {
    const queue = this.#options.queue ?? { kind: 'embedded' };
    return {
      kind: 'welcome',
      protocol: PROTOCOL_VERSION,
      version: 'test',
      queue,
      heartbeatMs: 200,
      targets: this.#options.targets ?? OPEN_TARGETS,
      shardKeys: [this.signer.publicKey],
    };
  }

  #store(socket: WebSocket, interval: Interval): void {
    const { runId, shardIndex, attempt } = interval;
    const key = shardAttemptKey(interval);
    const stored = this.#stored.get(key) ?? new Map<number, Interval>();
    this.#stored.set(key, stored);
    if (!stored.has(interval.number)) stored.set(interval.number, interval);
    if (!this.isAcknowledging) return;
    const ack = { kind: 'ack', shard: { runId, shardIndex, attempt }, number: interval.number } as const;
    socket.send(JSON.stringify(ack));
  }
}
