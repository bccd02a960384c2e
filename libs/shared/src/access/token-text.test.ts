import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { mayActAs, tokenRoleSchema } from './role.js';
import { readTokenText, TOKEN_SECRET_BYTES, tokenKindOf, tokenTextOf } from './token-text.js';

const secret = Uint8Array.from({ length: TOKEN_SECRET_BYTES }, (_, i) => 255 - i * 7);

describe('the text of a token', () => {
  it('begins with its kind and ends with the CRC-32 of the rest', () => {
    for (const kind of ['user', 'agent'] as const) {
      const text = tokenTextOf(kind, secret);
      expect(text).toMatch(new RegExp(`^broadside_${kind}_fff8f1[0-9a-f]{66}$`));
      expect(Number.parseInt(text.slice(-8), 16)).toBe(crc32(text.slice(0, -8)));
      expect(readTokenText(text)).toBe(kind);
    }
  });

  it('is known to be damaged wherever one character is another one, missing or too many', () => {
    const text = tokenTextOf('user', secret);
    for (let i = 'broadside_user_'.length; i < text.length; i++) {
      const other = text[i] === '0' ? '1' : '0';
      expect(readTokenText(text.slice(0, i) + other + text.slice(i + 1)), `at ${i}`).toBe('damaged');
      expect(readTokenText(text.slice(0, i)), `cut at ${i}`).toBe('damaged');
    }
    expect(readTokenText(`${text}0`)).toBe('damaged');
    expect(readTokenText(text.replace('user', 'agent'))).toBe('damaged');
  });

  it('is nothing of ours where somebody chose it', () => {
    for (const text of ['', 'hunter2', 'broadside', tokenTextOf('user', secret).slice(1)]) {
      expect(readTokenText(text)).toBe('other');
    }
  });

  it('needs all of its chance', () => {
    expect(() => tokenTextOf('user', secret.slice(1))).toThrow(RangeError);
  });
});

describe('roles', () => {
  it('rise from viewer to admin, and agents stand outside', () => {
    const allowed = tokenRoleSchema.options.flatMap((role) =>
      tokenRoleSchema.options.filter((needed) => mayActAs(role, needed)).map((needed) => `${role}>${needed}`),
    );
    expect(allowed).toEqual([
      'viewer>viewer',
      'operator>viewer',
      'operator>operator',
      'admin>viewer',
      'admin>operator',
      'admin>admin',
      'agent>agent',
    ]);
  });

  it('have a kind of token', () => {
    expect(tokenRoleSchema.options.map(tokenKindOf)).toEqual(['user', 'user', 'user', 'agent']);
  });
});
