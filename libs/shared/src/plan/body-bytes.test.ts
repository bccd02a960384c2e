import { expect, it } from 'vitest';
import { bodyBytesOf, utf8Bytes } from './body-bytes.js';

it.each(['', 'a', 'ä', '€', '😀', 'a\ud800b', 'ab😀ä€'])(
  'counts the bytes of %j as an encoder does',
  (text) => {
    // TextEncoder is no part of the language, so this package does without it; its tests run where it is.
    const { TextEncoder } = globalThis as unknown as {
      TextEncoder: new () => { encode(text: string): Uint8Array };
    };
    expect(utf8Bytes(text)).toBe(new TextEncoder().encode(text).length);
  },
);

it.each([
  ['', 0],
  ['YQ==', 1],
  ['YWI=', 2],
  ['YWJj', 3],
])('counts the bytes behind base64 %j', (bodyBase64, bytes) => {
  expect(bodyBytesOf({ bodyBase64 })).toBe(bytes);
});

it('has no bytes without a body', () => {
  expect(bodyBytesOf({})).toBe(0);
});
