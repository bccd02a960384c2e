/**
 * Entry of a thread that holds one transport and does what a test in another thread says. The thread of a
 * transport may be blocked, so the commands are fetched from their port at each turn, never awaited.
 */
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { monotonicClock } from '../clock.js';
import type { ResolvedAddress } from '../resolve-target.js';
import { chooseTransport } from '../transport/choose-transport.js';
import type { Transport, TransportHandler, TransportName } from '../transport/transport.js';

export interface TransportThreadSettings {
  readonly transport: TransportName;
  readonly address: ResolvedAddress;
  readonly port: number;
  readonly connections: number;
  readonly commands: MessagePort;
}

/** What a test may order. Reactions are carried out once, inside the handler that saw the event. */
export type TransportCommand =
  | { readonly do: 'open'; readonly connection: number }
  | { readonly do: 'send'; readonly connection: number; readonly bytes: Uint8Array }
  | { readonly do: 'close'; readonly connection: number; readonly abort: boolean }
  | {
      readonly do: 'react';
      readonly to: 'open' | 'data' | 'close';
      readonly connection: number;
      readonly by: readonly TransportCommand[];
    }
  /** Does nothing for a while, so that events gather and come as one batch. */
  | { readonly do: 'block'; readonly forMs: number }
  /** Asks for a turn at a time of its own, and tells when it came. */
  | { readonly do: 'turn'; readonly inUs: number }
  | { readonly do: 'wake' }
  | { readonly do: 'end' };

export type TransportEvent =
  | { readonly event: 'open'; readonly connection: number }
  | { readonly event: 'data'; readonly connection: number; readonly bytes: Uint8Array }
  | { readonly event: 'close'; readonly connection: number; readonly cause: number; readonly errno: number }
  /** @param lateUs how long after the time asked for the turn came. */
  | { readonly event: 'turn'; readonly lateUs: number }
  | { readonly event: 'ended'; readonly idleUs: number }
  /** A rule of the interface was broken, or the thread itself failed. */
  | { readonly event: 'defect'; readonly message: string };

/** How often the thread looks for commands when nothing happens. */
const LOOK_US = 1_000;

class CommandedHandler implements TransportHandler {
  readonly #transport: Transport;
  readonly #commands: MessagePort;
  readonly #reactions: Extract<TransportCommand, { do: 'react' }>[] = [];
  #turnAtUs = Number.POSITIVE_INFINITY;
  #isEnded = false;
  #isInCommand = false;

  constructor(transport: Transport, commands: MessagePort) {
    this.#transport = transport;
    this.#commands = commands;
  }

  onOpen(connection: number): void {
    this.#check();
    tell({ event: 'open', connection });
    this.#react('open', connection);
  }

  onData(connection: number, buffer: Uint8Array, start: number, end: number): void {
    this.#check();
    tell({ event: 'data', connection, bytes: buffer.slice(start, end) });
    this.#react('data', connection);
  }

  onClose(connection: number, cause: number, errno: number): void {
    this.#check();
    tell({ event: 'close', connection, cause, errno });
    this.#react('close', connection);
  }

  onTurn(nowUs: number): number {
    this.#check();
    if (nowUs >= this.#turnAtUs) {
      tell({ event: 'turn', lateUs: nowUs - this.#turnAtUs });
      this.#turnAtUs = Number.POSITIVE_INFINITY;
    }
    for (let next = receiveMessageOnPort(this.#commands); next; next = receiveMessageOnPort(this.#commands)) {
      // The port carries nothing else.
      this.#carryOut(next.message as TransportCommand);
    }
    return this.#isEnded ? -1 : Math.min(nowUs + LOOK_US, this.#turnAtUs);
  }

  /** The handler must never be called from inside a command. */
  #check(): void {
    if (this.#isInCommand) tell({ event: 'defect', message: 'the handler was called from inside a command' });
  }

  #react(to: 'open' | 'data' | 'close', connection: number): void {
    const position = this.#reactions.findIndex((r) => r.to === to && r.connection === connection);
    if (position < 0) return;
    for (const reaction of this.#reactions.splice(position, 1)) {
      for (const command of reaction.by) this.#carryOut(command);
    }
  }

  #carryOut(command: TransportCommand): void {
    const transport = this.#transport;
    this.#isInCommand = true;
    if (command.do === 'open') transport.open(command.connection);
    else if (command.do === 'send') transport.send(command.connection, command.bytes);
    else if (command.do === 'close') transport.close(command.connection, command.abort);
    else if (command.do === 'react') this.#reactions.push(command);
    else if (command.do === 'turn') this.#turnAtUs = monotonicClock.nowUs() + command.inUs;
    else if (command.do === 'wake') transport.wake();
    else if (command.do === 'end') this.#isEnded = true;
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, command.forMs);
    this.#isInCommand = false;
  }
}

function tell(event: TransportEvent): void {
  parentPort?.postMessage(event);
}

async function serve({ transport, commands, ...target }: TransportThreadSettings): Promise<void> {
  const choice = await chooseTransport(transport);
  if (choice.name !== transport) throw new Error(choice.note ?? `${transport} is not to be had`);
  const opened = choice.open({ ...target, clock: monotonicClock });
  await opened.run(new CommandedHandler(opened, commands));
  tell({ event: 'ended', idleUs: opened.idleUs() });
  commands.close();
}

// The test gives settings of this shape and nothing else starts the thread.
serve(workerData as TransportThreadSettings).catch((error: unknown) => {
  tell({ event: 'defect', message: error instanceof Error ? (error.stack ?? error.message) : String(error) });
});
