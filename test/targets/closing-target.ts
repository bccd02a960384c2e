import { bodyOf, connectionHeader, head } from './reply-bytes.js';
import type { TargetRequest } from './request-reader.js';
import { type TargetConnection, TargetServer } from './target-server.js';

export interface ClosingOptions {
  /** Replies a connection carries before it is closed. */
  readonly everyReplies: number;
  /**
   * - `after-reply`: FIN right behind the last reply, which did not announce it. What still comes is read, so
   *   the client sees an orderly end and never RST.
   * - `close-after-reply`: the same, but closed for both directions as most servers do: a request that is
   *   already under way is answered by RST.
   * - `on-next-request`: FIN instead of an answer when one more request arrives.
   * - `announced`: the last reply says `Connection: close`, then FIN.
   */
  readonly manner: 'after-reply' | 'close-after-reply' | 'on-next-request' | 'announced';
  readonly bodySizeBytes?: number;
}

/** Closes every connection after so many replies, in one of four manners. */
export class ClosingTarget extends TargetServer {
  readonly #options: ClosingOptions;
  readonly #body: Buffer;

  constructor(options: ClosingOptions) {
    super();
    this.#options = options;
    this.#body = bodyOf(options.bodySizeBytes ?? 100);
  }

  protected override async onRequest(connection: TargetConnection, request: TargetRequest): Promise<void> {
    const { everyReplies, manner } = this.#options;
    const count = connection.requestCount;
    if (count > everyReplies) {
      connection.finish();
      return;
    }
    const isLast = count === everyReplies;
    const isAnnounced = !request.isKeptAlive || (isLast && manner === 'announced');
    const headers = [
      ['Content-Length', String(this.#body.length)] as const,
      ...connectionHeader(request, isAnnounced),
    ];
    const body = request.method === 'HEAD' ? '' : this.#body;
    await connection.reply(head({ version: request.version, headers }), body);
    if (isLast && manner === 'close-after-reply') connection.close();
    else if (isAnnounced || (isLast && manner === 'after-reply')) connection.finish();
  }
}
