import { LIMITS } from '@broadside/shared';
import { expect, it } from 'vitest';
import { FirstReply } from './first-reply.js';

function kept(...pieces: readonly string[]): string {
  const reply = new FirstReply();
  for (const piece of pieces) reply.add(Buffer.from(`<<${piece}>>`, 'latin1'), 2, 2 + piece.length);
  return reply.text;
}

it('keeps the reads up to the one that ends the header, with what came along of the body', () => {
  expect(kept('HTTP/1.1 200 OK\r\nA: b\r', '\n\r\nbody', 'more of it')).toBe(
    'HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody',
  );
  expect(kept('HTTP/1.1 200 OK\n\nbody', 'more of it')).toBe('HTTP/1.1 200 OK\n\nbody');
  expect(kept()).toBe('');
});

it('has one character for each byte, ends at a zero byte and at its limit', () => {
  expect(kept('caf\xe9 \xff')).toBe('caf\xe9 \xff');
  expect(kept('HTTP\0more')).toBe('HTTP');
  expect(kept('x'.repeat(5_000), 'x'.repeat(5_000))).toHaveLength(LIMITS.maxFirstReplyBytes);
});

it('keeps no cookie', () => {
  expect(kept('HTTP/1.1 200 OK\r\nSet-Cookie: id=42; path=/\r\nset-cookie:b=c\r\n\r\n')).not.toMatch(
    /42|b=c/,
  );
});
