import { describe, expect, it } from 'vitest';
import { failureOfError, failureOfStatus, isTokenRefusal, standingFailure } from './connect-failure.js';

const ORIGIN = 'http://coordinator:7070';
const throttled = failureOfStatus(ORIGIN, 429);

describe('a failure to connect', () => {
  it('over the token says that a made one is as good as that of the start', () => {
    for (const status of [401, 403]) {
      const failure = failureOfStatus(ORIGIN, status);
      expect([failure.isRetryable, isTokenRefusal(failure)]).toEqual([false, true]);
      expect(failure.error.hint).toMatch(/started with, or one of `broadside token create --role agent`/);
    }
  });

  it('after too many wrong tokens is told as what it is, and may be tried again', () => {
    expect([throttled.isRetryable, isTokenRefusal(throttled)]).toEqual([true, false]);
    expect(throttled.error.message).toMatch(/too many wrong tokens came from this address/);
    expect(throttled.error.hint).toMatch(/^wait a minute/);
  });
});

describe('a token that was refused', () => {
  const refused = failureOfStatus(ORIGIN, 401);

  it('stays the reason while the coordinator looks at no more tokens', () => {
    expect(standingFailure(throttled, refused)).toBe(refused);
    expect(standingFailure(throttled, undefined)).toBe(throttled);
  });

  it('is no reason any more once something else was wrong', () => {
    const away = failureOfError(ORIGIN, new Error('gone'));
    expect(standingFailure(away, refused)).toBe(away);
    expect(standingFailure(throttled, away)).toBe(throttled);
  });
});
