import { setTimeout as pause } from 'node:timers/promises';
import { bodyOf, chunk, connectionHeader, head, lastChunk } from './reply-bytes.js';
import type { TargetRequest } from './request-reader.js';
import { type TargetConnection, TargetServer } from './target-server.js';

export interface WellBehavedOptions {
  readonly bodySizeBytes?: number;
  readonly delayMs?: number;
  /** Chunked needs HTTP/1.1; a 1.0 client gets a close-delimited body instead. */
  readonly framing?: 'content-length' | 'chunked' | 'close-delimited';
  /** Status code and reason, such as `500 Internal Server Error`. */
  readonly status?: string;
  /** The status of the n-th request of the whole target, counted from 1, for mixed answers. */
  readonly statusOf?: (requestNumber: number) => string;
}

/** Keeps to the rules: HTTP/1.0 and 1.1, keep-alive as asked for, HEAD without a body. */
export class WellBehavedTarget extends TargetServer {
  readonly #options: WellBehavedOptions;
  readonly #body: Buffer;

  constructor(options: WellBehavedOptions = {}) {
    super();
    this.#options = options;
    this.#body = bodyOf(options.bodySizeBytes ?? 100);
  }

  protected override onRequest(connection: TargetConnection, request: TargetRequest): Promise<void> {
    const { delayMs } = this.#options;
    const number = this.counters.requestsSeen;
    if (delayMs === undefined) return this.#answer(connection, request, number);
    return pause(delayMs).then(() => this.#answer(connection, request, number));
  }

  async #answer(connection: TargetConnection, request: TargetRequest, number: number): Promise<void> {
    const framing = this.#framingFor(request);
    const isClosing = framing === 'close-delimited' || !request.isKeptAlive;
    const status = this.#options.statusOf?.(number) ?? this.#options.status ?? '200 OK';
    const headers: (readonly [string, string])[] = [['Server', 'well-behaved']];
    if (framing === 'content-length') headers.push(['Content-Length', String(this.#body.length)]);
    if (framing === 'chunked') headers.push(['Transfer-Encoding', 'chunked']);
    headers.push(...connectionHeader(request, isClosing));
    const parts: (Buffer | string)[] = [head({ status, version: request.version, headers })];
    if (request.method !== 'HEAD') parts.push(...this.#bodyParts(framing));
    await connection.reply(...parts);
    if (isClosing) connection.finish();
  }

  #framingFor(request: TargetRequest): 'content-length' | 'chunked' | 'close-delimited' {
    const framing = this.#options.framing ?? 'content-length';
    return framing === 'chunked' && request.version === '1.0' ? 'close-delimited' : framing;
  }

  #bodyParts(framing: string): Buffer[] {
    if (framing !== 'chunked') return [this.#body];
    const middle = Math.ceil(this.#body.length / 2);
    const halves = [this.#body.subarray(0, middle), this.#body.subarray(middle)];
    return [...halves.filter((half) => half.length > 0).map(chunk), lastChunk];
  }
}
