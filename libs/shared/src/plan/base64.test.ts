import { expect, it } from 'vitest';
import { base64OfUtf8 } from './base64.js';

it.each([
  ['', ''],
  ['a', 'YQ=='],
  ['ab', 'YWI='],
  ['abc', 'YWJj'],
  ['u:p', 'dTpw'],
  ['u:ö', 'dTrDtg=='],
  ['u:€', 'dTrigqw='],
  ['\u{1f600}', '8J+YgA=='],
  ['\ud800', '77+9'],
  ['Aladdin:open sesame', 'QWxhZGRpbjpvcGVuIHNlc2FtZQ=='],
])('encodes %j as every other encoder does', (text, encoded) => {
  expect(base64OfUtf8(text)).toBe(encoded);
});
