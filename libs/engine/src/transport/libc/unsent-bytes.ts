/** Bytes of one piece that are still to be written. */
interface UnsentPiece {
  readonly bytes: Uint8Array;
  offset: number;
}

/**
 * What connections could not write at once, oldest first. Nearly all requests are written in one call, so
 * that the common question, whether anything waits at all, costs one comparison.
 */
export class UnsentBytes {
  readonly #queues = new Map<number, UnsentPiece[]>();

  has(connection: number): boolean {
    return this.#queues.size > 0 && this.#queues.has(connection);
  }

  /** @param offset of the first byte that is not written. */
  add(connection: number, bytes: Uint8Array, offset: number): void {
    const queue = this.#queues.get(connection);
    if (queue === undefined) this.#queues.set(connection, [{ bytes, offset }]);
    else queue.push({ bytes, offset });
  }

  clear(connection: number): void {
    if (this.#queues.size > 0) this.#queues.delete(connection);
  }

  /**
   * Writes as much as goes. @param write takes bytes from an offset on and returns how many it has written,
   * a negative number when it could not.
   */
  flush(connection: number, write: (bytes: Uint8Array, offset: number) => number): void {
    const queue = this.#queues.get(connection);
    for (let piece = queue?.[0]; queue !== undefined && piece !== undefined; piece = queue[0]) {
      const written = write(piece.bytes, piece.offset);
      if (written < 0) return;
      piece.offset += written;
      if (piece.offset >= piece.bytes.length) queue.shift();
    }
    this.#queues.delete(connection);
  }
}
