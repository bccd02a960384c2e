/** Longest header that is remembered, in words of four bytes. */
const MAX_WORDS = 512;
/** So many different headers in a row, and only every 64th is remembered still. */
const PATIENCE = 8;
const RETRY_MASK = 63;

/**
 * What the last plain reply meant. A loaded target sends the same header again and again (the date changes
 * once a second), and comparing it with the last one word by word takes a fifth of the time of reading it.
 * Only a reply that is whole in its piece and has the same bytes as the remembered one up to its body counts as
 * the same; then it means the same, its length too, and nothing needs to be read. In a pipeline the next reply
 * follows in the same piece. One object serves all parsers of a shard, which therefore must all be of the same
 * kind (HEAD or not, same limits).
 */
export class ReplyMemory {
  status = 0;
  bodyBytes = 0;
  mayPersist = false;

  readonly #known = new Int32Array(MAX_WORDS);
  #knownHeaderBytes = 0;
  #knownBytes = -1;
  #differing = 0;
  /** The receive buffer as words; made anew only when another buffer comes. */
  #buffer: Uint8Array | undefined;
  #words: Int32Array = new Int32Array(0);
  /** The same buffer for words that begin anywhere, as replies in a pipeline do. */
  #view: DataView = new DataView(new ArrayBuffer(0));
  #wordOffset = -1;

  /** Length of the remembered reply; −1 while there is none. */
  get replyBytes(): number {
    return this.#knownBytes;
  }

  /** Whether the piece begins with the remembered reply again, whole. */
  isSame(buffer: Uint8Array, start: number, end: number): boolean {
    if (end - start < this.#knownBytes || this.#knownBytes < 0) return false;
    const first = this.#firstWord(buffer, start);
    if (this.#wordOffset < 0) return false;
    const isEqual = first < 0 ? this.#isEqualAt(this.#wordOffset + start) : this.#isEqualFrom(first);
    if (!isEqual) return this.#noteDifferent();
    this.#differing = 0;
    return true;
  }

  /** Remembers a complete reply of counted length, or without body, that is exactly this piece. */
  remember(reply: { status: number; bodyBytes: number; mayPersist: boolean }, piece: Piece): void {
    if (this.#differing >= PATIENCE && (++this.#differing & RETRY_MASK) !== 0) return;
    const { buffer, start, end } = piece;
    const headerBytes = end - start - reply.bodyBytes;
    const count = (headerBytes >>> 2) + 1;
    this.#firstWord(buffer, start);
    // The word after the last whole one must exist: it is read even where only some of its bytes count.
    if (this.#wordOffset < 0 || count > MAX_WORDS) return;
    if (this.#wordOffset + start + count * 4 > this.#view.byteLength) return;
    for (let i = 0; i < count; i++)
      this.#known[i] = this.#view.getInt32(this.#wordOffset + start + i * 4, true);
    this.#knownHeaderBytes = headerBytes;
    this.#knownBytes = end - start;
    this.status = reply.status;
    this.bodyBytes = reply.bodyBytes;
    this.mayPersist = reply.mayPersist;
  }

  /** Compares from a word of the buffer. */
  #isEqualFrom(first: number): boolean {
    const words = this.#words;
    const known = this.#known;
    const count = this.#knownHeaderBytes >>> 2;
    for (let i = 0; i < count; i++) {
      if (words[first + i] !== known[i]) return false;
    }
    return this.#hasSameTail(words[first + count] ?? 0, known[count] ?? 0);
  }

  /** Compares from any byte of the memory behind the buffer. */
  #isEqualAt(offset: number): boolean {
    const view = this.#view;
    const known = this.#known;
    const count = this.#knownHeaderBytes >>> 2;
    if (offset + count * 4 + 4 > view.byteLength) return false;
    for (let i = 0; i < count; i++) {
      if (view.getInt32(offset + i * 4, true) !== known[i]) return false;
    }
    return this.#hasSameTail(view.getInt32(offset + count * 4, true), known[count] ?? 0);
  }

  /** The header's last one to three bytes, which begin a word that the body may go on in. */
  #hasSameTail(word: number, known: number): boolean {
    const bytes = this.#knownHeaderBytes & 3;
    if (bytes === 0) return true;
    return (word ^ known) << (32 - bytes * 8) === 0;
  }

  #noteDifferent(): false {
    if (++this.#differing >= PATIENCE) this.#knownBytes = -1;
    return false;
  }

  /** Index of the word at `start`, −1 where no word begins. */
  #firstWord(buffer: Uint8Array, start: number): number {
    if (buffer !== this.#buffer) {
      this.#buffer = buffer;
      this.#words = new Int32Array(buffer.buffer, 0, buffer.buffer.byteLength >>> 2);
      this.#view = new DataView(buffer.buffer);
      this.#wordOffset = IS_LITTLE_ENDIAN ? buffer.byteOffset : -1;
    }
    const offset = this.#wordOffset + start;
    return this.#wordOffset < 0 || (offset & 3) !== 0 ? -1 : offset >>> 2;
  }
}

interface Piece {
  readonly buffer: Uint8Array;
  readonly start: number;
  readonly end: number;
}

/** `#hasSameTail` shifts away the bytes that come last in memory; other machines do without the shortcut. */
const IS_LITTLE_ENDIAN = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;
