// A transport in a thread of its own, driven by a test: blocking transports leave their thread no time for
// anything else, and the test's servers must be able to answer meanwhile.

import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import type {
  TransportCommand,
  TransportEvent,
  TransportThreadSettings,
} from '../../libs/engine/dist/testing/transport-thread.js';

const ENTRY = new URL('../../libs/engine/dist/testing/transport-thread.js', import.meta.url);
const TIMEOUT_MS = 10_000;

type Kind = TransportEvent['event'];
type EventOf<K extends Kind> = Extract<TransportEvent, { event: K }>;

interface Waiter {
  readonly matches: (event: TransportEvent) => boolean;
  readonly take: (event: TransportEvent) => void;
}

export type WireSettings = Omit<TransportThreadSettings, 'commands'>;

export class TransportWire {
  /** Everything that came, in order. */
  readonly events: TransportEvent[] = [];
  readonly #worker: Worker;
  readonly #commands: MessagePort;
  readonly #fresh: TransportEvent[] = [];
  readonly #waiters: Waiter[] = [];
  readonly #exited: Promise<void>;

  constructor(settings: WireSettings) {
    const { port1, port2 } = new MessageChannel();
    const workerData: TransportThreadSettings = { ...settings, commands: port2 };
    this.#commands = port1;
    this.#worker = new Worker(ENTRY, { workerData, transferList: [port2] });
    this.#worker.on('message', (event: TransportEvent) => this.#hear(event));
    this.#exited = new Promise((resolve) => this.#worker.once('exit', () => resolve()));
  }

  command(...commands: readonly TransportCommand[]): void {
    for (const command of commands) this.#commands.postMessage(command);
    this.#worker.postMessage('wake');
  }

  /** The first event of this kind (and connection) that no earlier call has taken. */
  next<K extends Kind>(kind: K, connection?: number): Promise<EventOf<K>> {
    const matches = (event: TransportEvent): event is EventOf<K> =>
      event.event === kind &&
      (connection === undefined || ('connection' in event && event.connection === connection));
    const position = this.#fresh.findIndex(matches);
    const [found] = position < 0 ? [] : this.#fresh.splice(position, 1);
    if (found !== undefined && matches(found)) return Promise.resolve(found);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        const seen = this.events.map((event) => event.event).slice(-20);
        reject(new Error(`no ${kind} ${connection ?? ''} within ${TIMEOUT_MS} ms; seen: ${seen.join(' ')}`));
      }, TIMEOUT_MS);
      const take = (event: TransportEvent): void => {
        clearTimeout(timer);
        if (matches(event)) resolve(event);
      };
      this.#waiters.push({ matches, take });
    });
  }

  /** Takes data events of the connection until they hold so many bytes. */
  async read(connection: number, sizeBytes: number): Promise<Buffer> {
    const parts: Uint8Array[] = [];
    for (let missing = sizeBytes; missing > 0; ) {
      const { bytes } = await this.next('data', connection);
      parts.push(bytes);
      missing -= bytes.length;
    }
    return Buffer.concat(parts);
  }

  async open(...connections: readonly number[]): Promise<void> {
    this.command(...connections.map((connection) => ({ do: 'open', connection }) as const));
    await Promise.all(connections.map((connection) => this.next('open', connection)));
  }

  /** Ends the transport. @throws when it broke a rule of the interface at any time. */
  async end(): Promise<EventOf<'ended'>> {
    this.command({ do: 'end' });
    const ended = await this.next('ended');
    await this.#exited;
    const defects = this.events.flatMap((event) => (event.event === 'defect' ? [event.message] : []));
    if (defects.length > 0) throw new Error(defects.join('\n'));
    return ended;
  }

  /** Leaves nothing running, whatever the test did. */
  async dispose(): Promise<void> {
    await this.#worker.terminate();
    this.#commands.close();
  }

  #hear(event: TransportEvent): void {
    this.events.push(event);
    const position = this.#waiters.findIndex((waiter) => waiter.matches(event));
    if (position < 0) this.#fresh.push(event);
    else for (const waiter of this.#waiters.splice(position, 1)) waiter.take(event);
  }
}
