import { setTimeout as pause } from 'node:timers/promises';
import { bodyOf, connectionHeader, head } from './reply-bytes.js';
import type { TargetRequest } from './request-reader.js';
import { type TargetConnection, TargetServer } from './target-server.js';

export type Silence =
  /** Reads requests and says nothing. */
  | 'never-answers'
  /** Accepts and never reads. */
  | 'never-reads'
  /** A whole header block announcing 100 bytes, then nothing. */
  | 'stops-after-header'
  /** Half of the status line, then nothing. */
  | 'stops-in-status-line'
  /** A proper reply, one byte at a time. */
  | 'drips';

export interface SilentOptions {
  /** Time between two bytes of a dripping reply; 5 ms unless told. */
  readonly dripMs?: number;
}

/** Makes a client wait, for good or for a long time. */
export class SilentTarget extends TargetServer {
  readonly #kind: Silence;
  readonly #dripMs: number;

  constructor(kind: Silence, options: SilentOptions = {}) {
    super();
    this.#kind = kind;
    this.#dripMs = options.dripMs ?? 5;
  }

  protected override onConnection(): boolean {
    return this.#kind !== 'never-reads';
  }

  protected override async onRequest(connection: TargetConnection, request: TargetRequest): Promise<void> {
    const reply = head({
      version: request.version,
      headers: [['Content-Length', '100'], ...connectionHeader(request)],
    });
    switch (this.#kind) {
      case 'never-answers':
      case 'never-reads':
        return;
      case 'stops-after-header':
        await connection.send(reply);
        return;
      case 'stops-in-status-line':
        await connection.send('HTTP/1.1 2');
        return;
      case 'drips':
        await this.#drip(connection, Buffer.concat([Buffer.from(reply), bodyOf(100)]));
        if (!request.isKeptAlive) connection.finish();
    }
  }

  async #drip(connection: TargetConnection, bytes: Buffer): Promise<void> {
    const last = bytes.length - 1;
    for (let index = 0; index < last; index++) {
      if (!(await connection.send(bytes.subarray(index, index + 1)))) return;
      await pause(this.#dripMs);
    }
    await connection.reply(bytes.subarray(last));
  }
}
