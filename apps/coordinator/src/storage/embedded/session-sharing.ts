/**
 * Many clients, one session. The embedded PostgreSQL has exactly one session; this shares it so that each
 * client sees what it would see on a server of its own:
 *
 *   client A ──┐   a batch = messages up to Sync or one simple query, never cut
 *   client B ──┼─► waiting batches, first come first served ─► session (synchronous) ─► answer to its client
 *   client C ──┘   a client inside a transaction holds the session until the transaction ends
 *
 * Notifications leave the session with whatever answer comes next; they are taken out of it and go to all
 * clients that listen. What stays shared, and must not be used by clients: SET without LOCAL, temporary
 * tables, advisory locks of the session. COPY and row-limited cursors are refused.
 */
import {
  channelOf,
  closeStatementsMessage,
  completesListenChange,
  concatBytes,
  FrontendReader,
  fatalError,
  greeting,
  isClientCopy,
  type ListenChange,
  listenChangeOf,
  prefixStatementName,
  queryMessage,
  readBackendMessages,
  sqlOf,
  type TransactionStatus,
  transactionStatusOf,
  type WireMessage,
  WireProtocolError,
} from './wire-protocol.js';

/** Runs one batch to its end and returns all bytes of the answer. Synchronous: the engine is. */
export type RunBatch = (batch: Uint8Array) => Uint8Array;

export interface SessionSharingOptions {
  readonly run: RunBatch;
  readonly serverVersion: string;
  /** A client that holds the session this long without a word, while others wait, loses its transaction. */
  readonly idleHoldMs: number;
}

/** Where the answers of one client go. */
export interface ClientOutput {
  send(bytes: Uint8Array): void;
  end(): void;
}

/** One client's way in. */
export interface ClientInput {
  receive(bytes: Uint8Array): void;
  /** The client is gone, in whatever state; an open transaction is rolled back. */
  close(): void;
}

interface Batch {
  readonly bytes: Uint8Array;
  readonly listenChanges: readonly ListenChange[];
}

interface Client {
  readonly id: number;
  readonly output: ClientOutput;
  readonly reader: FrontendReader;
  readonly channels: Set<string>;
  readonly statements: Set<string>;
  readonly batches: Batch[];
  unfinished: WireMessage[];
  isClosed: boolean;
}

export class SessionSharing {
  readonly #options: SessionSharingOptions;
  readonly #clients = new Set<Client>();
  /** Clients with at least one whole batch, in order of arrival. */
  readonly #waiting: Client[] = [];
  #holder: Client | undefined;
  #holdTimer: NodeJS.Timeout | undefined;
  #nextId = 1;
  #isRunning = false;

  constructor(options: SessionSharingOptions) {
    this.#options = options;
  }

  /** Lets a client in; its first bytes are the start-up packet of the protocol. */
  connect(output: ClientOutput): ClientInput {
    const client: Client = {
      id: this.#nextId++,
      output,
      reader: new FrontendReader(),
      channels: new Set(),
      statements: new Set(),
      batches: [],
      unfinished: [],
      isClosed: false,
    };
    this.#clients.add(client);
    return {
      receive: (bytes) => this.#receive(client, bytes),
      close: () => this.#close(client),
    };
  }

  #receive(client: Client, bytes: Uint8Array): void {
    if (client.isClosed) return;
    try {
      for (const message of client.reader.read(bytes)) this.#accept(client, message);
    } catch (error) {
      if (!(error instanceof WireProtocolError)) throw error;
      this.#refuse(client, '08P01', error.message);
    }
    this.#pump();
  }

  #accept(client: Client, message: WireMessage): void {
    if (client.isClosed) return;
    switch (message.type) {
      case 'start-up':
        client.output.send(greeting(this.#options.serverVersion, client.id));
        return;
      case 'ssl-request':
        client.output.send(new TextEncoder().encode('N'));
        return;
      case 'X':
      case 'cancel-request':
        this.#close(client);
        return;
      case 'P':
      case 'B':
      case 'D':
      case 'C':
      case 'E':
        client.unfinished.push(message);
        return;
      case 'S':
      case 'Q':
        client.unfinished.push(message);
        this.#finishBatch(client);
        return;
      default:
        // Flush would hand out half an answer and keep the session; COPY streams into the middle of a batch.
        this.#refuse(client, '0A000', `the embedded store does not take messages of type ${message.type}`);
    }
  }

  #finishBatch(client: Client): void {
    const listenChanges: ListenChange[] = [];
    const parts: Uint8Array[] = [];
    for (const original of client.unfinished) {
      const sql = sqlOf(original) ?? '';
      if (isClientCopy(sql)) {
        this.#refuse(client, '0A000', 'the embedded store has no COPY from or to its client');
        return;
      }
      const { message, parsedName } = prefixStatementName(original, `c${client.id}_`);
      if (parsedName !== undefined) client.statements.add(parsedName);
      const change = listenChangeOf(sql);
      if (change !== undefined) listenChanges.push(change);
      parts.push(message.bytes);
    }
    client.unfinished = [];
    client.batches.push({ bytes: concatBytes(parts), listenChanges });
    if (!this.#waiting.includes(client)) this.#waiting.push(client);
  }

  /** Runs whatever may run now. Not re-entrant: sending an answer can bring the next batch at once. */
  #pump(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      for (let client = this.#takeNext(); client !== undefined; client = this.#takeNext()) {
        const batch = client.batches.shift();
        if (client.batches.length > 0) this.#waiting.push(client);
        if (batch !== undefined) this.#runFor(client, batch);
      }
    } finally {
      this.#isRunning = false;
    }
    this.#watchHolder();
  }

  #takeNext(): Client | undefined {
    const position = this.#holder === undefined ? 0 : this.#waiting.indexOf(this.#holder);
    return position === -1 ? undefined : this.#waiting.splice(position, 1)[0];
  }

  #runFor(client: Client, batch: Batch): void {
    const { answer, status, listenCount } = this.#run(batch.bytes);
    this.#stopHoldTimer();
    this.#holder = status === 'idle' ? undefined : client;
    client.output.send(answer);
    if (listenCount === 0) return;
    if (listenCount === batch.listenChanges.length) this.#noteListening(client, batch.listenChanges);
    // Better no connection than one that waits for notifications which never reach it.
    else this.#refuse(client, '0A000', 'the embedded store takes LISTEN only as a statement of its own');
  }

  /** Runs a batch; the notifications in its answer go to those who listen, the rest is returned. */
  #run(bytes: Uint8Array): { answer: Uint8Array; status: TransactionStatus; listenCount: number } {
    const answer: Uint8Array[] = [];
    let status: TransactionStatus | undefined;
    let listenCount = 0;
    for (const message of readBackendMessages(this.#options.run(bytes))) {
      if (message.type === 'A') {
        this.#notify(message);
        continue;
      }
      if (message.type === 'Z') status = transactionStatusOf(message);
      if (completesListenChange(message)) listenCount += 1;
      answer.push(message.bytes);
    }
    if (status === undefined) throw new Error('the embedded PostgreSQL gave no end to its answer');
    return { answer: concatBytes(answer), status, listenCount };
  }

  #notify(message: WireMessage): void {
    const channel = channelOf(message);
    for (const client of this.#clients) {
      if (client.channels.has(channel)) client.output.send(message.bytes.slice());
    }
  }

  #noteListening(client: Client, changes: readonly ListenChange[]): void {
    for (const { kind, channel } of changes) {
      if (kind === 'listen') client.channels.add(channel);
      else if (channel === '*') client.channels.clear();
      else client.channels.delete(channel);
    }
    // The session has forgotten the channel for everybody; those who still want it must get it back.
    if (changes.some((change) => change.kind === 'unlisten')) this.#listenAgain();
  }

  #listenAgain(): void {
    const channels = new Set([...this.#clients].flatMap((client) => [...client.channels]));
    for (const channel of channels) this.#run(queryMessage(`listen ${quoteIdentifier(channel)}`));
  }

  #close(client: Client): void {
    if (client.isClosed) return;
    client.isClosed = true;
    this.#clients.delete(client);
    const position = this.#waiting.indexOf(client);
    if (position !== -1) this.#waiting.splice(position, 1);
    if (this.#holder === client) {
      this.#stopHoldTimer();
      this.#run(queryMessage('rollback'));
      this.#holder = undefined;
    }
    // Inside another client's transaction these few messages are harmless: they change no rows.
    if (client.statements.size > 0) this.#run(closeStatementsMessage(client.statements));
    if (client.channels.size > 0 && this.#holder === undefined) this.#forgetChannels(client);
    client.output.end();
    this.#pump();
  }

  #forgetChannels(client: Client): void {
    for (const channel of client.channels) this.#run(queryMessage(`unlisten ${quoteIdentifier(channel)}`));
    this.#listenAgain();
  }

  #refuse(client: Client, sqlState: string, reason: string): void {
    if (client.isClosed) return;
    client.output.send(fatalError(sqlState, reason));
    this.#close(client);
  }

  /** A transaction that waits for another client of the same session would wait for ever; this ends it. */
  #watchHolder(): void {
    const holder = this.#holder;
    if (holder === undefined || this.#waiting.length === 0 || this.#holdTimer !== undefined) return;
    this.#holdTimer = setTimeout(() => {
      const seconds = this.#options.idleHoldMs / 1000;
      this.#refuse(holder, '25P03', `transaction idle for ${seconds} s while others waited for the store`);
    }, this.#options.idleHoldMs);
    this.#holdTimer.unref();
  }

  #stopHoldTimer(): void {
    clearTimeout(this.#holdTimer);
    this.#holdTimer = undefined;
  }
}

function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
