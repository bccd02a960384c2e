import { bodyOf, chunk, connectionHeader, head } from './reply-bytes.js';
import type { TargetRequest } from './request-reader.js';
import { type TargetConnection, TargetServer } from './target-server.js';

export type WrongLength =
  /** Content-Length 100, 60 bytes, FIN. */
  | 'truncated-body'
  /** A chunk of 100 announced, 60 bytes of it, FIN. */
  | 'truncated-chunk'
  /** Whole chunks, but FIN instead of the last one. */
  | 'missing-last-chunk'
  /** FIN in the middle of the header block. */
  | 'truncated-header'
  /** Content-Length 150, 100 bytes, and the connection stays open. */
  | 'announces-more'
  /** Content-Length 50, 100 bytes: the surplus stands where the next reply should begin. */
  | 'announces-less'
  /** Content-Length 100, then 99, then 100 …: honest, but never the same twice. */
  | 'varying';

/** Bodies that are not as long as announced, or not as long as the last one. */
export class WrongLengthTarget extends TargetServer {
  readonly #kind: WrongLength;

  constructor(kind: WrongLength) {
    super();
    this.#kind = kind;
  }

  protected override async onRequest(connection: TargetConnection, request: TargetRequest): Promise<void> {
    const body = bodyOf(100);
    const framed = (name: string, value: string): string =>
      head({ version: request.version, headers: [[name, value], ...connectionHeader(request, false)] });
    switch (this.#kind) {
      case 'truncated-body':
        await connection.send(framed('Content-Length', '100'), body.subarray(0, 60));
        return connection.finish();
      case 'truncated-chunk':
        await connection.send(framed('Transfer-Encoding', 'chunked'), chunk(body).subarray(0, 64));
        return connection.finish();
      case 'missing-last-chunk':
        await connection.send(framed('Transfer-Encoding', 'chunked'), chunk(body));
        return connection.finish();
      case 'truncated-header':
        await connection.send('HTTP/1.1 200 OK\r\nContent-Length: 100\r\nX-Cut');
        return connection.finish();
      case 'announces-more':
        return connection.reply(framed('Content-Length', '150'), body);
      case 'announces-less':
        return connection.reply(framed('Content-Length', '50'), body);
      case 'varying': {
        const sizeBytes = 100 - ((this.counters.requestsSeen + 1) % 2);
        await connection.reply(framed('Content-Length', String(sizeBytes)), body.subarray(0, sizeBytes));
        if (!request.isKeptAlive) connection.finish();
      }
    }
  }
}
