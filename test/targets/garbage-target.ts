import type { TargetRequest } from './request-reader.js';
import { type TargetConnection, TargetServer } from './target-server.js';

/** What each kind sends as its whole reply. None of it is a response a client may accept. */
const replies = {
  'random-bytes': Buffer.from(Array.from({ length: 512 }, (_, index) => (index * 167 + 13) % 256)),
  'another-protocol': Buffer.from('SSH-2.0-OpenSSH_9.2\r\n\r\n'),
  'bad-status-line': Buffer.from('HTTP/1.1 abc OK\r\nContent-Length: 0\r\n\r\n'),
  'bad-version': Buffer.from('HTTP/9.9 200 OK\r\nContent-Length: 0\r\n\r\n'),
  'header-without-colon': Buffer.from('HTTP/1.1 200 OK\r\nno colon here\r\nContent-Length: 0\r\n\r\n'),
  'length-not-a-number': Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: ten\r\n\r\n0123456789'),
  'length-negative': Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: -10\r\n\r\n'),
  'length-beyond-range': Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${'9'.repeat(30)}\r\n\r\n`),
  'lengths-that-differ': Buffer.from(
    'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef',
  ),
  'bad-chunk-size': Buffer.from(
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nabc\r\n0\r\n\r\n',
  ),
  'chunk-without-end': Buffer.from(
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcdef\r\n0\r\n\r\n',
  ),
} as const;

export type Garbage = keyof typeof replies;

export const garbageKinds = Object.keys(replies) as Garbage[]; // The keys are exactly these; the library says string.

/** Answers with bytes that are not HTTP, or HTTP that contradicts itself, and leaves the connection open. */
export class GarbageTarget extends TargetServer {
  readonly #kind: Garbage;

  constructor(kind: Garbage) {
    super();
    this.#kind = kind;
  }

  protected override onRequest(connection: TargetConnection, _request: TargetRequest): Promise<void> {
    return connection.reply(replies[this.#kind]);
  }
}
