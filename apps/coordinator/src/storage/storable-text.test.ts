import { describe, expect, it } from 'vitest';
import { isStorable, storableJson, storableText } from './storable-text.js';

describe('storableText', () => {
  it('keeps ordinary text, and what only looks like an escape', () => {
    expect(storableText('naïve 💡 \\u0000 \n')).toBe('naïve 💡 \\u0000 \n');
  });

  it('replaces U+0000 and halves of surrogate pairs', () => {
    expect(storableText('a\0b')).toBe('a\ufffdb');
    expect(storableText('a\ud800b\udc00')).toBe('a\ufffdb\ufffd');
  });
});

describe('isStorable', () => {
  it('tells whether anything would be changed', () => {
    expect(isStorable({ body: 'naïve 💡', list: [1] })).toBe(true);
    expect(isStorable({ list: ['\0'] })).toBe(false);
    expect(isStorable({ name: '\ud800' })).toBe(false);
  });
});

describe('storableJson', () => {
  it('cleans texts at any depth and nothing else', () => {
    const value = { reason: '407 no\0way', list: [{ deep: '\udfff' }], count: 3, none: null };
    expect(JSON.parse(storableJson(value))).toEqual({
      reason: '407 no\ufffdway',
      list: [{ deep: '\ufffd' }],
      count: 3,
      none: null,
    });
  });
});
