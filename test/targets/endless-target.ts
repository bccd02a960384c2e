import { bodyOf, chunk, connectionHeader, head } from './reply-bytes.js';
import type { TargetRequest } from './request-reader.js';
import { type TargetConnection, TargetServer } from './target-server.js';

export type Endless =
  /** A proper reply with a header of 1 MB before its body of 100 bytes. */
  | 'megabyte-header'
  /** Header lines without end. */
  | 'header'
  /** One header line without end. */
  | 'header-line'
  /** A close-delimited body without end. */
  | 'body'
  /** Chunks without end. */
  | 'chunks'
  /** 100 Continue without end. */
  | 'interim-replies';

/** Nothing is truly endless here: after this much the target falls silent. */
const LIMIT_BYTES = 256 * 1024 * 1024;

/** Sends far more than a client should be willing to take, as fast as the client reads. */
export class EndlessTarget extends TargetServer {
  readonly #kind: Endless;

  constructor(kind: Endless) {
    super();
    this.#kind = kind;
  }

  protected override async onRequest(connection: TargetConnection, request: TargetRequest): Promise<void> {
    switch (this.#kind) {
      case 'megabyte-header':
        await connection.reply(megabyteHeader(request), bodyOf(100));
        if (!request.isKeptAlive) connection.finish();
        return;
      case 'header':
        return pour(connection, 'HTTP/1.1 200 OK\r\n', Buffer.from(headerLines(65_536)));
      case 'header-line':
        return pour(connection, 'HTTP/1.1 200 OK\r\nX-Endless: ', Buffer.alloc(65_536, 'x'));
      case 'body':
        return pour(connection, head({ headers: [['Connection', 'close']] }), bodyOf(65_536));
      case 'chunks':
        return pour(connection, head({ headers: [['Transfer-Encoding', 'chunked']] }), chunk(bodyOf(65_536)));
      case 'interim-replies':
        return pour(connection, '', Buffer.from('HTTP/1.1 100 Continue\r\n\r\n'.repeat(1000)));
    }
  }
}

function megabyteHeader(request: TargetRequest): string {
  const rest = head({
    version: request.version,
    headers: [['Content-Length', '100'], ...connectionHeader(request)],
  });
  const [statusLine = ''] = rest.split('\r\n', 1);
  return `${statusLine}\r\n${headerLines(1_000_000)}${rest.slice(statusLine.length + 2)}`;
}

function headerLines(sizeBytes: number): string {
  const line = `X-Ballast: ${'x'.repeat(87)}\r\n`;
  return line.repeat(Math.ceil(sizeBytes / line.length));
}

/** Waits for each block to leave, so that a client that does not read costs no memory here. */
async function pour(connection: TargetConnection, start: string, block: Buffer): Promise<void> {
  let isOpen = await connection.send(start);
  for (let sentBytes = 0; isOpen && sentBytes < LIMIT_BYTES; sentBytes += block.length) {
    isOpen = await connection.send(block);
  }
}
