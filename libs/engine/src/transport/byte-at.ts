/**
 * One byte of a buffer, for positions that the caller has checked. The cast replaces `?? 0`, which would make
 * the parser's loops treat every load as possibly undefined; a position outside gives undefined and matches
 * no state.
 */
export function byteAt(buffer: Uint8Array, position: number): number {
  return buffer[position] as number;
}
