import { describe, expect, it } from 'vitest';
import { byteBlock } from './byte-block.js';

describe('a block of bytes', () => {
  it('holds all pieces one after the other, and says where each of them is', () => {
    const pieces = [Uint8Array.of(1, 2), undefined, new Uint8Array(0), Uint8Array.of(3)];
    const { block, firsts, sizes } = byteBlock(pieces);
    expect([...block]).toEqual([1, 2, 3]);
    expect(firsts).toEqual([1, 3, 3, 3]);
    expect(sizes).toEqual([2, null, 0, 1]);
  });

  it('may be empty', () => {
    expect(byteBlock([])).toEqual({ block: Buffer.alloc(0), firsts: [], sizes: [] });
  });
});
