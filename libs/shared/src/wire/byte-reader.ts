/** Thrown for bytes that are not what they claim to be; `message` says what and where. */
export class FrameError extends Error {
  override readonly name = 'FrameError';
}

/** Reads what `ByteWriter` wrote; every read is checked against the end of the buffer. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  get remaining(): number {
    return this.#bytes.length - this.#at;
  }

  u8(what: string): number {
    const value = this.#bytes[this.#at];
    if (value === undefined) throw this.#error(`${what} is missing`);
    this.#at++;
    return value;
  }

  f64(what: string): number {
    if (this.remaining < 8) throw this.#error(`${what} is missing`);
    const value = this.#view.getFloat64(this.#at, true);
    this.#at += 8;
    return value;
  }

  varint(what: string): number {
    // Most numbers of a frame are bucket gaps and counts of one byte.
    const first = this.#bytes[this.#at];
    if (first !== undefined && first < 0x80) {
      this.#at++;
      return first;
    }
    return this.#longVarint(what);
  }

  #longVarint(what: string): number {
    let value = 0;
    let scale = 1;
    for (let i = 0; i < 8; i++) {
      const byte = this.u8(what);
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if (value > Number.MAX_SAFE_INTEGER) throw this.#error(`${what} is too large`);
        return value;
      }
      scale *= 0x80;
    }
    throw this.#error(`${what} is too large`);
  }

  /** A view of the next bytes. */
  bytes(length: number, what: string): Uint8Array {
    if (this.remaining < length) throw this.#error(`${what} is cut off`);
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  ascii(what: string): string {
    const length = this.u8(what);
    if (this.remaining < length) throw this.#error(`${what} is cut off`);
    let text = '';
    for (let i = 0; i < length; i++) {
      const code = this.#bytes[this.#at++] ?? 0;
      if (code < 0x20 || code > 0x7e) throw this.#error(`${what} has a character that is not printable`);
      text += String.fromCharCode(code);
    }
    return text;
  }

  #error(what: string): FrameError {
    return new FrameError(`frame: ${what} (at byte ${this.#at} of ${this.#bytes.length})`);
  }
}
