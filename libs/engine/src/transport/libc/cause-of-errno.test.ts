import { constants } from 'node:os';
import { describe, expect, it } from 'vitest';
import { causeOfError } from '../classify-error.js';
import { causeOfErrno } from './cause-of-errno.js';

describe('causeOfErrno', () => {
  it('says for every error number what the socket transport says for its name', () => {
    const names = Object.entries(constants.errno);
    expect(names.length).toBeGreaterThan(50);
    for (const [code, number] of names) {
      expect([code, causeOfErrno(number)]).toEqual([
        code,
        causeOfError(Object.assign(new Error(code), { code })),
      ]);
    }
  });
});
