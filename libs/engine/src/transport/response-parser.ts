/**
 * HTTP/1.x replies, read in place from receive buffers in whatever pieces they come (RFC 9112).
 * Long because the states of one machine share their fields and are best read together.
 *
 *   STATUS_LINE ─► STATUS_REST ─► LINE_START ─┬► NAME ─► value states ─► LINE_START
 *        ▲                                    │
 *        └──── interim reply (1xx) ◄── end of header ─┬─► complete (no body)
 *                                                     ├─► BODY (counted) ─► complete
 *                                                     ├─► UNTIL_CLOSE ─► complete at end of input
 *                                                     └─► CHUNKED (chunked-body.ts) ─► complete
 *
 * The object of a connection is made once and holds integers only: nothing is allocated for a reply and no
 * slice of a buffer is kept. A reply that repeats the last one is recognised without reading it
 * (reply-memory.ts). Decisions where the specification leaves room, each with its test:
 * - A line may end in LF alone (RFC 9112 section 2.2).
 * - A folded line (section 5.2) continues a field that does not matter here and is skipped; after
 *   Content-Length, Transfer-Encoding or Connection, or before the first field, the reply is malformed.
 * - A field name that is empty or has a blank before the colon is malformed (section 5.1).
 * - Repeated or listed Content-Length values must agree (section 6.3); digits only.
 * - Chunked wins over Content-Length; such a connection is not used again (section 6.3). The same holds for
 *   Transfer-Encoding in an HTTP/1.0 reply (section 6.1).
 * - A last transfer coding other than chunked means a body until close; chunked twice is malformed.
 * - Status codes outside 100 … 599 and 101 (nobody asked for an upgrade) are malformed.
 */
import { byteAt } from './byte-at.js';
import { CHUNKS_DONE, CHUNKS_MALFORMED, CHUNKS_TOO_LARGE, ChunkedBody } from './chunked-body.js';
import type { ReplyMemory } from './reply-memory.js';
import type { ServerName } from './server-name.js';

/** What a call of `feed` or `end` has found. */
export const PARSED = {
  /** Everything was read and the reply goes on. */
  more: 0,
  /** The reply is complete; `position` is the byte after it. */
  complete: 1,
  malformed: 2,
  /** A limit of the plan on header or body was passed. */
  tooLarge: 3,
  /** The input ended inside the reply. */
  truncated: 4,
  /** The input ended before the first byte of a reply. */
  nothing: 5,
} as const;

export interface ReplyLimits {
  /** Most bytes of status lines, header, interim replies, chunk framing and trailer together. */
  readonly maxHeaderBytes: number;
  readonly maxBodyBytes: number;
}

/** What all parsers of a shard have in common. */
export interface ParserShare {
  readonly serverName: ServerName;
  readonly memory: ReplyMemory;
}

const STATUS_LINE = 0;
const STATUS_REST = 1;
const LINE_START = 2;
const NAME = 3;
const OTHER_NAME = 4;
const SKIP_VALUE = 5;
const LENGTH_VALUE = 6;
const LIST_VALUE = 7;
const SERVER_VALUE = 8;
const END_LF = 9;
/** From here on the header is behind us. */
const BODY = 10;
const UNTIL_CLOSE = 11;
const CHUNKED = 12;

const NO_FIELD = 0;
const OTHER_FIELD = 1;
const CONTENT_LENGTH = 2;
const CONNECTION = 3;
const TRANSFER_ENCODING = 4;
const SERVER = 5;

const encoder = new TextEncoder();
const NO_WORD = new Uint8Array(0);
/** Lower-case names, by field number, with their colon. */
const FIELD_NAMES = ['', '', 'content-length:', 'connection:', 'transfer-encoding:', 'server:'].map((name) =>
  encoder.encode(name),
);
const WORD_CHUNKED = encoder.encode('chunked');
const WORD_CLOSE = encoder.encode('close');
const WORD_KEEP_ALIVE = encoder.encode('keep-alive');
const STATUS_PREFIX = encoder.encode('HTTP/1.');
const STATUS_LINE_LENGTH = 'HTTP/1.1 200'.length;

/** Lengths above are not exact in a double any more; no honest reply has them. */
const MAX_LENGTH = Number.MAX_SAFE_INTEGER;

const TAB = 9;
const LF = 10;
const CR = 13;
const BLANK = 32;
const COMMA = 44;
const DIGIT_0 = 48;
const DIGIT_9 = 57;
const COLON = 58;

export class ResponseParser {
  /** Position after the last byte that the last `feed` used. */
  position = 0;
  /** Status code of the reply; 0 until its status line is read. */
  status = 0;
  /** Body bytes so far, without chunked framing. */
  bodyBytes = 0;
  /** Bytes of the reply so far as received, interim replies and framing included. */
  wireBytes = 0;
  /**
   * Of a complete reply: whether the connection may carry another request (RFC 9112 section 9.3), as far as
   * the target is concerned.
   */
  mayPersist = false;

  readonly #limits: ReplyLimits;
  readonly #serverName: ServerName;
  readonly #memory: ReplyMemory;
  readonly #chunks = new ChunkedBody();
  #isHead = false;

  #state = STATUS_LINE;
  /** Counts inside the state: matched bytes of a name or word, or the part of a value that was reached. */
  #mark = 0;
  #field = NO_FIELD;
  #word: Uint8Array = NO_WORD;
  #number = 0;
  #headerBytes = 0;
  #minorVersion = 0;
  #contentLength = -1;
  #hasCloseToken = false;
  #hasKeepAliveToken = false;
  #hasCoding = false;
  #hasChunked = false;
  #isChunkedLast = false;
  #remaining = 0;
  #serverValue = '';

  constructor(limits: ReplyLimits, shared: ParserShare) {
    this.#limits = limits;
    this.#serverName = shared.serverName;
    this.#memory = shared.memory;
  }

  /** Makes ready for the next reply. @param isHead the request was HEAD: its reply has no body. */
  begin(isHead: boolean): void {
    this.bodyBytes = 0;
    this.wireBytes = 0;
    this.#isHead = isHead;
    this.#headerBytes = 0;
    this.#beginHeader();
  }

  /**
   * Reads `buffer` from `start` to `end`, at most to the end of the reply.
   * @returns one of `PARSED`. After anything but `more` call `begin` before the next `feed`.
   */
  feed(buffer: Uint8Array, start: number, end: number): number {
    const isFirstPiece = this.wireBytes === 0;
    if (isFirstPiece && this.#memory.isSame(buffer, start, end)) return this.#repeat(start);
    let position = start;
    let result: number = PARSED.more;
    while (position < end && result === PARSED.more) {
      this.position = position;
      result = this.#state < BODY ? this.#readHeader(buffer, end) : this.#readBody(buffer, end);
      position = this.position;
    }
    this.wireBytes += position - start;
    if (result === PARSED.complete) {
      this.mayPersist = this.#persists();
      const isPlain = isFirstPiece && position === end && this.#state === BODY;
      if (isPlain) this.#memory.remember(this, { buffer, start, end });
    }
    return result;
  }

  /** The input has ended. @returns `complete` for a body that lasts until close, `truncated` or `nothing`. */
  end(): number {
    this.mayPersist = false;
    if (this.#state === UNTIL_CLOSE) return PARSED.complete;
    return this.wireBytes === 0 ? PARSED.nothing : PARSED.truncated;
  }

  /** The same reply as the last plain one. */
  #repeat(start: number): number {
    this.status = this.#memory.status;
    this.bodyBytes = this.#memory.bodyBytes;
    this.mayPersist = this.#memory.mayPersist;
    this.wireBytes = this.#memory.replyBytes;
    this.position = start + this.wireBytes;
    return PARSED.complete;
  }

  #persists(): boolean {
    if (this.#hasCloseToken) return false;
    if (this.#hasCoding && (this.#contentLength >= 0 || this.#minorVersion === 0)) return false;
    return this.#minorVersion > 0 || this.#hasKeepAliveToken;
  }

  #beginHeader(): void {
    this.status = 0;
    this.#hasCloseToken = false;
    this.#state = STATUS_LINE;
    this.#mark = 0;
    this.#field = NO_FIELD;
    this.#contentLength = -1;
    this.#hasKeepAliveToken = false;
    this.#hasCoding = false;
    this.#hasChunked = false;
    this.#isChunkedLast = false;
    this.#remaining = 0;
  }

  /** Reads header bytes within their limit, one state after the other. */
  #readHeader(buffer: Uint8Array, end: number): number {
    const start = this.position;
    const room = this.#limits.maxHeaderBytes - this.#headerBytes;
    const stop = end - start > room ? start + room : end;
    let position = start;
    while (position < stop && this.#state < BODY) {
      position = this.#step(buffer, position, stop);
      if (position < 0) return PARSED.malformed;
    }
    this.position = position;
    this.#headerBytes += position - start;
    if (this.#state >= BODY) return this.#beginBody();
    return position === stop && stop < end ? PARSED.tooLarge : PARSED.more;
  }

  /** One state of the header. @returns the next position, −1 when the reply is malformed. */
  #step(buffer: Uint8Array, position: number, end: number): number {
    switch (this.#state) {
      case STATUS_LINE:
        return this.#readStatusLine(buffer, position, end);
      case LINE_START:
        return this.#startLine(buffer, position);
      case NAME:
        return this.#readName(buffer, position, end);
      case OTHER_NAME:
        return this.#readOtherName(buffer, position, end);
      case LENGTH_VALUE:
        return this.#readLength(buffer, position, end);
      case LIST_VALUE:
        return this.#readList(buffer, position, end);
      case SERVER_VALUE:
        return this.#readServer(buffer, position, end);
      case END_LF:
        return byteAt(buffer, position) === LF ? this.#endHeader(position + 1) : -1;
      default:
        return this.#skipLine(buffer, position, end);
    }
  }

  #readStatusLine(buffer: Uint8Array, start: number, end: number): number {
    let position = start;
    let mark = this.#mark;
    for (; position < end && mark < STATUS_LINE_LENGTH; position++, mark++) {
      const byte = byteAt(buffer, position);
      if (mark < STATUS_PREFIX.length) {
        if (byte !== STATUS_PREFIX[mark]) return -1;
        continue;
      }
      if (mark === STATUS_PREFIX.length + 1) {
        if (byte !== BLANK) return -1;
        continue;
      }
      if (byte < DIGIT_0 || byte > DIGIT_9) return -1;
      if (mark === STATUS_PREFIX.length) this.#minorVersion = byte - DIGIT_0;
      else this.status = this.status * 10 + byte - DIGIT_0;
    }
    this.#mark = mark;
    if (position === end) return position;
    // The byte after the code: a blank before the reason, or the end of the line.
    const byte = byteAt(buffer, position);
    if (byte !== BLANK && byte !== CR && byte !== LF) return -1;
    if (this.status < 100 || this.status > 599 || this.status === 101) return -1;
    this.#state = STATUS_REST;
    return position;
  }

  /** Everything up to the end of the line is of no interest: reason phrases and most values. */
  #skipLine(buffer: Uint8Array, start: number, end: number): number {
    let position = start;
    while (position < end) {
      if (byteAt(buffer, position++) === LF) {
        this.#state = LINE_START;
        return position;
      }
    }
    return position;
  }

  #startLine(buffer: Uint8Array, position: number): number {
    const byte = byteAt(buffer, position);
    if (byte === LF) return this.#endHeader(position + 1);
    if (byte === CR) {
      this.#state = END_LF;
      return position + 1;
    }
    if (byte === BLANK || byte === TAB) {
      if (this.#field !== OTHER_FIELD && this.#field !== SERVER) return -1;
      this.#state = SKIP_VALUE;
      return position + 1;
    }
    const letter = byte | 0x20;
    this.#mark = 0;
    this.#state = NAME;
    if (letter === 99 /* c */) this.#field = CONTENT_LENGTH;
    else if (letter === 116 /* t */) this.#field = TRANSFER_ENCODING;
    else if (letter === 115 /* s */ && !this.#serverName.isKnown) this.#field = SERVER;
    else {
      if (byte === COLON) return -1;
      this.#field = OTHER_FIELD;
      this.#state = OTHER_NAME;
    }
    return position;
  }

  #readName(buffer: Uint8Array, start: number, end: number): number {
    let position = start;
    let mark = this.#mark;
    let name = FIELD_NAMES[this.#field] ?? NO_WORD;
    for (; position < end; position++) {
      const byte = byteAt(buffer, position);
      // Letters only: | 0x20 would turn CR into a hyphen.
      const folded = byte >= 65 && byte <= 90 ? byte | 0x20 : byte;
      if (folded !== name[mark]) {
        if (this.#field === CONTENT_LENGTH && mark === 3 && folded === 110 /* con-n-ection */) {
          this.#field = CONNECTION;
          name = FIELD_NAMES[CONNECTION] ?? NO_WORD;
        } else {
          this.#field = OTHER_FIELD;
          this.#state = OTHER_NAME;
          return position;
        }
      }
      if (++mark === name.length) {
        this.#beginValue();
        return position + 1;
      }
    }
    this.#mark = mark;
    return position;
  }

  #readOtherName(buffer: Uint8Array, start: number, end: number): number {
    for (let position = start; position < end; position++) {
      const byte = byteAt(buffer, position);
      if (byte === COLON) {
        this.#state = SKIP_VALUE;
        return this.#skipLine(buffer, position + 1, end);
      }
      if (byte <= BLANK) return -1;
    }
    return end;
  }

  #beginValue(): void {
    this.#mark = 0;
    if (this.#field === CONTENT_LENGTH) {
      this.#number = 0;
      this.#state = LENGTH_VALUE;
    } else if (this.#field === SERVER) {
      this.#serverValue = '';
      this.#state = SERVER_VALUE;
    } else {
      this.#word = NO_WORD;
      this.#state = LIST_VALUE;
      if (this.#field === TRANSFER_ENCODING) this.#hasCoding = true;
    }
  }

  /** Content-Length: digits, or a list of equal numbers. Mark: 0 before, 1 inside, 2 after the digits. */
  #readLength(buffer: Uint8Array, start: number, end: number): number {
    let position = start;
    while (position < end) {
      const byte = byteAt(buffer, position++);
      if (byte >= DIGIT_0 && byte <= DIGIT_9) {
        if (this.#mark === 2) return -1;
        this.#mark = 1;
        // In this order: on the way to the largest exact length no sum may pass it.
        this.#number = this.#number * 10 + (byte - DIGIT_0);
        if (this.#number > MAX_LENGTH) return -1;
      } else if (byte === BLANK || byte === TAB || byte === CR) {
        if (this.#mark === 1) this.#mark = 2;
      } else if (byte === COMMA || byte === LF) {
        if (this.#mark === 0) return -1;
        if (this.#contentLength >= 0 && this.#contentLength !== this.#number) return -1;
        this.#contentLength = this.#number;
        this.#number = 0;
        this.#mark = 0;
        if (byte === LF) {
          this.#state = LINE_START;
          return position;
        }
      } else return -1;
    }
    return position;
  }

  /**
   * Connection and Transfer-Encoding: a list of words. Mark: 0 before a word, n after n matching bytes of
   * `#word`, −1 in a word that is none of ours, −2 in blanks after a word of ours.
   */
  #readList(buffer: Uint8Array, start: number, end: number): number {
    let position = start;
    while (position < end) {
      const byte = byteAt(buffer, position++);
      if (byte === COMMA || byte === LF) {
        if (!this.#endWord()) return -1;
        this.#mark = 0;
        if (byte === LF) {
          this.#state = LINE_START;
          return position;
        }
      } else if (byte === BLANK || byte === TAB || byte === CR) {
        if (this.#mark > 0) this.#mark = this.#mark === this.#word.length ? -2 : -1;
      } else if (this.#mark >= 0) {
        const letter = byte | 0x20;
        if (this.#mark === 0) this.#word = this.#wordOf(letter);
        this.#mark = letter === this.#word[this.#mark] ? this.#mark + 1 : -1;
      } else this.#mark = -1;
    }
    return position;
  }

  #wordOf(letter: number): Uint8Array {
    if (this.#field === TRANSFER_ENCODING) return WORD_CHUNKED;
    return letter === 107 /* k */ ? WORD_KEEP_ALIVE : WORD_CLOSE;
  }

  /** @returns false when the list makes no sense. */
  #endWord(): boolean {
    if (this.#mark === 0) return true;
    const isOurs = this.#mark === -2 || this.#mark === this.#word.length;
    if (this.#field === CONNECTION) {
      if (isOurs && this.#word === WORD_CLOSE) this.#hasCloseToken = true;
      else if (isOurs) this.#hasKeepAliveToken = true;
      return true;
    }
    this.#isChunkedLast = isOurs;
    if (isOurs && this.#hasChunked) return false;
    if (isOurs) this.#hasChunked = true;
    return true;
  }

  /** Server: the value up to its first blank. It happens once a run, so that building a string is fine. */
  #readServer(buffer: Uint8Array, start: number, end: number): number {
    for (let position = start; position < end; position++) {
      const byte = byteAt(buffer, position);
      const isBlank = byte <= BLANK;
      if (byte === LF || (isBlank && this.#serverValue !== '')) {
        this.#serverName.capture(this.#serverValue);
        this.#state = SKIP_VALUE;
        return position;
      }
      if (!isBlank && this.#serverValue.length < 256) this.#serverValue += String.fromCharCode(byte);
    }
    return end;
  }

  /** Decides about the body (RFC 9112 section 6.3). @returns the position given. */
  #endHeader(position: number): number {
    if (this.status < 200) {
      this.#beginHeader();
      return position;
    }
    this.#state = BODY;
    if (this.#isHead || this.status === 204 || this.status === 304) return position;
    if (this.#hasCoding) {
      this.#state = this.#isChunkedLast ? CHUNKED : UNTIL_CLOSE;
      if (this.#isChunkedLast) {
        this.#chunks.begin(this.#limits.maxBodyBytes, this.#limits.maxHeaderBytes - this.#headerBytes);
      }
    } else if (this.#contentLength < 0) this.#state = UNTIL_CLOSE;
    else this.#remaining = this.#contentLength;
    return position;
  }

  /** First look at the body, when its framing is known and none of it is read. */
  #beginBody(): number {
    if (this.#state !== BODY) return PARSED.more;
    if (this.#remaining === 0) return PARSED.complete;
    return this.#remaining > this.#limits.maxBodyBytes ? PARSED.tooLarge : PARSED.more;
  }

  #readBody(buffer: Uint8Array, end: number): number {
    if (this.#state === CHUNKED) return this.#readChunks(buffer, end);
    const available = end - this.position;
    if (this.#state === UNTIL_CLOSE) {
      this.bodyBytes += available;
      this.position = end;
      return this.bodyBytes > this.#limits.maxBodyBytes ? PARSED.tooLarge : PARSED.more;
    }
    const taken = available < this.#remaining ? available : this.#remaining;
    this.position += taken;
    this.bodyBytes += taken;
    this.#remaining -= taken;
    return this.#remaining === 0 ? PARSED.complete : PARSED.more;
  }

  #readChunks(buffer: Uint8Array, end: number): number {
    const chunks = this.#chunks;
    const result = chunks.feed(buffer, this.position, end);
    this.position = chunks.position;
    this.bodyBytes = chunks.bodyBytes;
    if (result === CHUNKS_DONE) return PARSED.complete;
    if (result === CHUNKS_MALFORMED) return PARSED.malformed;
    return result === CHUNKS_TOO_LARGE ? PARSED.tooLarge : PARSED.more;
  }
}
