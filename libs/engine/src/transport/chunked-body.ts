/**
 * A chunked body with its trailer (RFC 9112 section 7.1), in whatever pieces it comes.
 *
 *   SIZE ─► AFTER_SIZE ─► (EXTENSION) ─► SIZE_LF ─┬► CONTENT ─► CONTENT_END ─► CONTENT_LF ─► SIZE
 *                                                 └► size 0: TRAILER_START ⇄ TRAILER_LINE ─► done
 *
 * As in the header, a line may end in LF alone. Extensions and trailer fields are skipped; they
 * count against the header's limit, so that a target cannot feed them for ever.
 */
import { byteAt } from './byte-at.js';

const CHUNKS_MORE = 0;
export const CHUNKS_DONE = 1;
export const CHUNKS_MALFORMED = 2;
export const CHUNKS_TOO_LARGE = 3;

const SIZE = 0;
const AFTER_SIZE = 1;
const EXTENSION = 2;
const SIZE_LF = 3;
const CONTENT = 4;
const CONTENT_END = 5;
const CONTENT_LF = 6;
const TRAILER_START = 7;
const TRAILER_LINE = 8;
const TRAILER_LF = 9;
/** Results of a step, apart from the states. */
const DONE = 10;
const MALFORMED = 11;

/** 13 hexadecimal digits stay exact in a double; leading zeros count too, or they could go on for ever. */
const MAX_SIZE_DIGITS = 13;

const TAB = 9;
const LF = 10;
const CR = 13;
const BLANK = 32;
const SEMICOLON = 59;

export class ChunkedBody {
  /** Position after the last byte that the last `feed` used. */
  position = 0;
  /** Content bytes so far. */
  bodyBytes = 0;

  #state = SIZE;
  #remaining = 0;
  #digits = 0;
  #maxBodyBytes = 0;
  /** Bytes of framing and trailer that may still come. */
  #framingRoom = 0;

  begin(maxBodyBytes: number, maxFramingBytes: number): void {
    this.bodyBytes = 0;
    this.#state = SIZE;
    this.#remaining = 0;
    this.#digits = 0;
    this.#maxBodyBytes = maxBodyBytes;
    this.#framingRoom = maxFramingBytes;
  }

  /** Reads at most to the end of the trailer. @returns one of the `CHUNKS_…` numbers. */
  feed(buffer: Uint8Array, start: number, end: number): number {
    let position = start;
    while (position < end) {
      if (this.#state === CONTENT) {
        const available = end - position;
        const taken = available < this.#remaining ? available : this.#remaining;
        position += taken;
        this.bodyBytes += taken;
        this.#remaining -= taken;
        if (this.#remaining === 0) this.#state = CONTENT_END;
        continue;
      }
      const state = this.#next(byteAt(buffer, position++));
      this.position = position;
      if (state === DONE) return CHUNKS_DONE;
      if (state === MALFORMED) return CHUNKS_MALFORMED;
      this.#state = state;
      // Sizes and line ends are bounded by the content they announce: many chunks are not a flood of framing.
      const isExtra = state === AFTER_SIZE || state === EXTENSION || state >= TRAILER_START;
      if (isExtra && --this.#framingRoom < 0) return CHUNKS_TOO_LARGE;
      if (this.bodyBytes + this.#remaining > this.#maxBodyBytes) return CHUNKS_TOO_LARGE;
    }
    this.position = position;
    return CHUNKS_MORE;
  }

  /** The state after one byte of framing. */
  #next(byte: number): number {
    switch (this.#state) {
      case SIZE:
        return this.#readSize(byte);
      case AFTER_SIZE:
        if (byte === BLANK || byte === TAB) return AFTER_SIZE;
        return byte === SEMICOLON ? EXTENSION : this.#endSizeLine(byte);
      case EXTENSION:
        return byte === CR || byte === LF ? this.#endSizeLine(byte) : EXTENSION;
      case SIZE_LF:
        return byte === LF ? this.#beginContent() : MALFORMED;
      case CONTENT_END:
        if (byte === CR) return CONTENT_LF;
        return byte === LF ? SIZE : MALFORMED;
      case CONTENT_LF:
        return byte === LF ? SIZE : MALFORMED;
      case TRAILER_START:
        if (byte === LF) return DONE;
        return byte === CR ? TRAILER_LF : TRAILER_LINE;
      case TRAILER_LINE:
        return byte === LF ? TRAILER_START : TRAILER_LINE;
      default:
        return byte === LF ? DONE : MALFORMED;
    }
  }

  #readSize(byte: number): number {
    const digit = hexDigitOf(byte);
    if (digit >= 0) {
      if (++this.#digits > MAX_SIZE_DIGITS) return MALFORMED;
      this.#remaining = this.#remaining * 16 + digit;
      return SIZE;
    }
    if (this.#digits === 0) return MALFORMED;
    if (byte === BLANK || byte === TAB) return AFTER_SIZE;
    return byte === SEMICOLON ? EXTENSION : this.#endSizeLine(byte);
  }

  #endSizeLine(byte: number): number {
    if (byte === CR) return SIZE_LF;
    return byte === LF ? this.#beginContent() : MALFORMED;
  }

  #beginContent(): number {
    this.#digits = 0;
    return this.#remaining === 0 ? TRAILER_START : CONTENT;
  }
}

function hexDigitOf(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const letter = byte | 0x20;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}
