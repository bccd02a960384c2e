import { describe, expect, it } from 'vitest';
import { UnsentBytes } from './unsent-bytes.js';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A socket that takes so many bytes before it is full. */
function socketWithRoom(room: number): { readonly written: () => string; readonly write: Write } {
  let left = room;
  let text = '';
  const write: Write = (piece, offset) => {
    const size = Math.min(left, piece.length - offset);
    if (size === 0) return -1;
    left -= size;
    text += new TextDecoder().decode(piece.subarray(offset, offset + size));
    return size;
  };
  return { written: () => text, write };
}
type Write = (piece: Uint8Array, offset: number) => number;

describe('UnsentBytes', () => {
  it('writes pieces in order, from where it stopped, for every amount of room', () => {
    for (let room = 1; room <= 12; room++) {
      const unsent = new UnsentBytes();
      unsent.add(3, bytes('_first'), 1);
      unsent.add(3, bytes('second'), 0);
      let all = '';
      for (let turn = 0; unsent.has(3); turn++) {
        expect(turn).toBeLessThan(12);
        const socket = socketWithRoom(room);
        unsent.flush(3, socket.write);
        all += socket.written();
      }
      expect(all).toBe('firstsecond');
    }
  });

  it('keeps connections apart and forgets a cleared one', () => {
    const unsent = new UnsentBytes();
    unsent.add(1, bytes('one'), 0);
    unsent.add(2, bytes('two'), 0);
    unsent.clear(1);
    expect([unsent.has(1), unsent.has(2)]).toEqual([false, true]);
    const socket = socketWithRoom(100);
    unsent.flush(1, socket.write);
    unsent.flush(2, socket.write);
    expect(socket.written()).toBe('two');
    expect(unsent.has(2)).toBe(false);
  });
});
