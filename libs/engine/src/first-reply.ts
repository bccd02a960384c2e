import { LIMITS } from '@broadside/shared/engine';

/** Values that let somebody in, which no report may hold. */
const SECRET_LINE = /^(set-cookie\s*:).*$/gim;

/**
 * Keeps the reads of one reply until its header is whole, for a plan that wants to see it. Made for one reply of a
 * run only: everything here is slow.
 */
export class FirstReply {
  #bytes = Buffer.alloc(0);
  #isWhole = false;

  add(buffer: Uint8Array, start: number, end: number): void {
    const room = LIMITS.maxFirstReplyBytes - this.#bytes.length;
    if (this.#isWhole || room <= 0) return;
    this.#bytes = Buffer.concat([this.#bytes, buffer.subarray(start, Math.min(end, start + room))]);
    this.#isWhole = this.#bytes.includes('\r\n\r\n') || this.#bytes.includes('\n\n');
  }

  /** One character for each byte, up to the first zero byte, which no store of text takes; empty without a reply. */
  get text(): string {
    const [text = ''] = this.#bytes.toString('latin1').split('\0', 1);
    return text.replace(SECRET_LINE, '$1 (redacted)');
  }
}
