import { bodyOf, chunk, lastChunk } from './reply-bytes.js';
import type { TargetRequest } from './request-reader.js';
import { type TargetConnection, TargetServer } from './target-server.js';

const body = bodyOf(100).toString('latin1');
const chunked = Buffer.concat([chunk(bodyOf(100)), lastChunk]).toString('latin1');
const extended = `64;name="va;lue"\r\n${body}\r\n0\r\nX-Trailer: 1\r\nX-Other: 2\r\n\r\n`;

/** Replies that a client must read correctly though few servers send them (RFC 9110, RFC 9112). */
const replies = {
  'continue-first': `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n${body}`,
  'two-interim-replies': [
    'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n',
    `HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n${body}`,
  ].join(''),
  'no-content-with-length': 'HTTP/1.1 204 No Content\r\nContent-Length: 100\r\n\r\n',
  'not-modified-with-length': 'HTTP/1.1 304 Not Modified\r\nContent-Length: 100\r\n\r\n',
  // Transfer-Encoding wins over Content-Length (RFC 9112 section 6.3).
  'length-and-chunked': `HTTP/1.1 200 OK\r\nContent-Length: 7\r\nTransfer-Encoding: chunked\r\n\r\n${chunked}`,
  'extensions-and-trailers': `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${extended}`,
  'empty-body': 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
  'same-length-twice': `HTTP/1.1 200 OK\r\nContent-Length: 100\r\nContent-Length: 100\r\n\r\n${body}`,
  'no-reason': `HTTP/1.1 200 \r\nContent-Length: 100\r\n\r\n${body}`,
  'odd-case': `HTTP/1.1 200 OK\r\ncONTENT-lENGTH:100\r\nCONNECTION:\tKeep-Alive\r\n\r\n${body}`,
  'newline-only': `HTTP/1.1 200 OK\nContent-Length: 100\n\n${body}`,
} as const;

export type OddFraming = keyof typeof replies;

export const oddFramings = Object.keys(replies) as OddFraming[]; // The keys are exactly these; the library says string.

/** Answers correctly in an unusual way and keeps the connection, whatever was asked. */
export class OddFramingTarget extends TargetServer {
  readonly #kind: OddFraming;

  constructor(kind: OddFraming) {
    super();
    this.#kind = kind;
  }

  protected override onRequest(connection: TargetConnection, _request: TargetRequest): Promise<void> {
    return connection.reply(replies[this.#kind]);
  }
}
