import { Buffer } from 'node:buffer';

/** Longest head of a proxy's reply. */
const MAX_HEAD_BYTES = 16_384;

export type ConnectReply =
  | { readonly kind: 'more' }
  /** The tunnel is open. @param rest what came after the head: the target's first bytes. */
  | { readonly kind: 'open'; readonly rest: Buffer }
  /** @param reason one line. */
  | { readonly kind: 'refused'; readonly reason: string };

/**
 * Reads a proxy's reply to CONNECT in any pieces. A 2xx reply has no body whatever its head says
 * (RFC 9110 9.3.6); of any other only the head matters, because the connection is given up.
 */
export class ConnectReplyReader {
  #head = Buffer.alloc(0);

  feed(piece: Uint8Array): ConnectReply {
    this.#head = Buffer.concat([this.#head, piece]);
    const text = this.#head.toString('latin1');
    if (text.length >= 5 && !text.startsWith('HTTP/')) {
      return { kind: 'refused', reason: 'the proxy did not answer CONNECT in HTTP' };
    }
    const end = /\r?\n\r?\n/.exec(text);
    if (end === null) {
      return text.length <= MAX_HEAD_BYTES
        ? { kind: 'more' }
        : { kind: 'refused', reason: `the proxy's reply to CONNECT is longer than ${MAX_HEAD_BYTES} bytes` };
    }
    const [, status = '', phrase = ''] = /^HTTP\/1\.\d (\d{3})(?: ([^\r\n]*))?\r?\n/.exec(text) ?? [];
    // An interim reply is followed by the real one.
    if (status.startsWith('1')) {
      const rest = this.#head.subarray(end.index + end[0].length);
      this.#head = Buffer.alloc(0);
      return this.feed(rest);
    }
    if (status === '') return { kind: 'refused', reason: 'the proxy did not answer CONNECT in HTTP/1.x' };
    if (status.startsWith('2')) {
      return { kind: 'open', rest: this.#head.subarray(end.index + end[0].length) };
    }
    const hint = status === '407' ? '; it wants other credentials' : '';
    return { kind: 'refused', reason: `the proxy refused the tunnel: ${status} ${phrase}`.trimEnd() + hint };
  }
}
