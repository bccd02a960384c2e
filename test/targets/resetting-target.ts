import { setTimeout as pause } from 'node:timers/promises';
import { bodyOf, connectionHeader, head } from './reply-bytes.js';
import type { TargetRequest } from './request-reader.js';
import { type TargetConnection, TargetServer } from './target-server.js';

export interface ResettingOptions {
  /**
   * - `at-accept`: RST as soon as the connection is there.
   * - `before-first-byte`: RST instead of an answer.
   * - `after-first-byte`: RST in the middle of the body.
   */
  readonly when: 'at-accept' | 'before-first-byte' | 'after-first-byte';
  /** Only every n-th request of the target (every n-th connection, at accept) is reset; 1 unless told. */
  readonly every?: number;
}

/** Long enough for the part of the reply to be read before the reset overtakes it. */
const HEAD_START_MS = 20;

/** Resets connections; what it does not reset gets a proper answer of 100 bytes. */
export class ResettingTarget extends TargetServer {
  readonly #options: ResettingOptions;
  readonly #every: number;

  constructor(options: ResettingOptions) {
    super();
    this.#options = options;
    this.#every = options.every ?? 1;
  }

  protected override onConnection(connection: TargetConnection): boolean {
    if (this.#options.when !== 'at-accept' || (connection.index + 1) % this.#every !== 0) return true;
    connection.reset();
    return false;
  }

  protected override async onRequest(connection: TargetConnection, request: TargetRequest): Promise<void> {
    const { when } = this.#options;
    const isReset = when !== 'at-accept' && this.counters.requestsSeen % this.#every === 0;
    if (isReset && when === 'before-first-byte') {
      connection.reset();
      return;
    }
    const body = bodyOf(100);
    const headers = [['Content-Length', '100'] as const, ...connectionHeader(request)];
    const reply = head({ version: request.version, headers });
    if (isReset) {
      await connection.send(reply, body.subarray(0, 10));
      await pause(HEAD_START_MS);
      connection.reset();
      return;
    }
    await connection.reply(reply, body);
    if (!request.isKeptAlive) connection.finish();
  }
}
