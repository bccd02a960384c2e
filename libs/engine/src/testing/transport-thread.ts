/**
 * Entry of a thread that holds one transport and does what a test in another thread says. The thread of a
 * transport may be blocked, so the commands are fetched from their port at each turn, never awaited; a message
 * of any kind wakes those that are not. What the transport tells is checked against the interface's rules.
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
  /** Takes all reactions back that have not happened. */
  | { readonly do: 'forget' }
  /** Says `blocking` and does nothing for a while, so that events gather and come as one batch. */
  | { readonly do: 'block'; readonly forMs: number }
  /** Asks for a turn at a time of its own, and tells when it came. */
  | { readonly do: 'turn'; readonly inUs: number }
  | { readonly do: 'wake' }
  | { readonly do: 'end' };

export type TransportEvent =
  | { readonly event: 'open'; readonly connection: number; readonly hasInput: boolean }
  | { readonly event: 'data'; readonly connection: number; readonly bytes: Uint8Array }
  | { readonly event: 'close'; readonly connection: number; readonly cause: number; readonly errno: number }
  /** @param lateUs how long after the time asked for the turn came. */
  | { readonly event: 'turn'; readonly lateUs: number }
  | { readonly event: 'blocking' }
  | { readonly event: 'ended'; readonly idleUs: number }
  /** A rule of the interface was broken, or the thread itself failed. */
  | { readonly event: 'defect'; readonly message: string };

/** Longest wait that the handler asks for: commands are to be seen sooner, whatever the transport waits for. */
const LONGEST_WAIT_US = 10_000_000;

type State = 'closed' | 'asked' | 'open';

class CommandedHandler implements TransportHandler {
  readonly #transport: Transport;
  readonly #commands: MessagePort;
  readonly #reactions: Extract<TransportCommand, { do: 'react' }>[] = [];
  #turnAtUs = Number.POSITIVE_INFINITY;
  #isEnded = false;
  #isInCommand = false;
  /** What each connection is, judged by commands and events alone. */
  readonly #states = new Map<number, State>();

  constructor(transport: Transport, commands: MessagePort) {
    this.#transport = transport;
    this.#commands = commands;
  }

  onOpen(connection: number, hasInput = false): void {
    this.#expect(connection, 'asked');
    this.#states.set(connection, 'open');
    tell({ event: 'open', connection, hasInput });
    this.#react('open', connection);
  }

  onData(connection: number, buffer: Uint8Array, start: number, end: number): void {
    this.#expect(connection, 'open');
    tell({ event: 'data', connection, bytes: buffer.slice(start, end) });
    this.#react('data', connection);
  }

  onClose(connection: number, cause: number, errno: number): void {
    this.#expect(connection, 'asked', 'open');
    this.#states.set(connection, 'closed');
    tell({ event: 'close', connection, cause, errno });
    this.#react('close', connection);
  }

  onTurn(nowUs: number): number {
    if (nowUs >= this.#turnAtUs) {
      tell({ event: 'turn', lateUs: nowUs - this.#turnAtUs });
      this.#turnAtUs = Number.POSITIVE_INFINITY;
    }
    for (let next = receiveMessageOnPort(this.#commands); next; next = receiveMessageOnPort(this.#commands)) {
      // The port carries nothing else.
      this.#carryOut(next.message as TransportCommand);
    }
    return this.#isEnded ? -1 : Math.min(nowUs + LONGEST_WAIT_US, this.#turnAtUs);
  }

  #expect(connection: number, ...states: readonly State[]): void {
    const state = this.#states.get(connection) ?? 'closed';
    if (!states.includes(state)) defect(`an event came for connection ${connection}, which is ${state}`);
    if (this.#isInCommand) defect('the handler was called from inside a command');
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
    if (command.do === 'open') this.#states.set(command.connection, 'asked');
    if (command.do === 'close') this.#states.set(command.connection, 'closed');
    this.#isInCommand = true;
    if (command.do === 'open') transport.open(command.connection);
    else if (command.do === 'send') transport.send(command.connection, command.bytes);
    else if (command.do === 'close') transport.close(command.connection, command.abort);
    else if (command.do === 'react') this.#reactions.push(command);
    else if (command.do === 'forget') this.#reactions.length = 0;
    else if (command.do === 'turn') this.#turnAtUs = monotonicClock.nowUs() + command.inUs;
    else if (command.do === 'wake') transport.wake();
    else if (command.do === 'end') this.#isEnded = true;
    else {
      tell({ event: 'blocking' });
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, command.forMs);
    }
    this.#isInCommand = false;
  }
}

function tell(event: TransportEvent): void {
  parentPort?.postMessage(event);
}

function defect(message: string): void {
  tell({ event: 'defect', message });
}

async function serve({ transport, commands, ...target }: TransportThreadSettings): Promise<void> {
  const choice = await chooseTransport(transport);
  if (choice.name !== transport) throw new Error(choice.note ?? `${transport} is not to be had`);
  const opened = choice.open({ ...target, clock: monotonicClock });
  parentPort?.on('message', () => opened.wake());
  await opened.run(new CommandedHandler(opened, commands));
  tell({ event: 'ended', idleUs: opened.idleUs() });
  commands.close();
  parentPort?.close();
}

// The test gives settings of this shape and nothing else starts the thread.
serve(workerData as TransportThreadSettings).catch((error: unknown) => {
  defect(error instanceof Error ? (error.stack ?? error.message) : String(error));
});
