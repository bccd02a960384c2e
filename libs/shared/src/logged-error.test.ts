import { describe, expect, it } from 'vitest';
import { errorSerializers, loggedError } from './logged-error.js';

describe('loggedError', () => {
  it('has named fields and nothing that a library hung on the error', () => {
    const error = Object.assign(new Error('terminated', { cause: new Error('reset by peer') }), {
      code: '57P01',
      client: { processID: 2_449, secretKey: 4_711 },
      query: 'select secret',
    });
    expect(loggedError(error)).toEqual({
      type: 'Error',
      message: 'terminated',
      code: '57P01',
      causes: ['reset by peer'],
    });
  });

  it('has a short stack only where details are wanted', () => {
    const deep = new Error('deep');
    deep.stack = ['Error: deep', ...Array.from({ length: 50 }, (_, i) => `    at f${i}`)].join('\n');
    expect(loggedError(deep)).not.toHaveProperty('stack');
    expect(loggedError(deep, true)).toHaveProperty(
      'stack',
      expect.stringMatching(/^Error: deep(\n {4}at f\d){7}$/),
    );
  });

  it('bounds what is long, and causes that go in a circle', () => {
    const long = new Error('x'.repeat(5_000));
    long.cause = long;
    expect(JSON.stringify(loggedError(long)).length).toBeLessThan(6_000);
  });

  it.each([
    ['gone', 'gone'],
    [undefined, 'undefined'],
    [{ secretKey: 1 }, 'an object that is no error'],
  ])('makes a text of %j, which is no error', (value, text) => {
    expect(loggedError(value)).toBe(text);
  });
});

it('the serializers stand for every name that errors are logged by', () => {
  const serializers = errorSerializers(false);
  expect(Object.keys(serializers).sort()).toEqual(['err', 'error', 'reason']);
  for (const serialize of Object.values(serializers)) {
    expect(serialize(new TypeError('wrong'))).toEqual({ type: 'TypeError', message: 'wrong' });
  }
});
