import { constants } from 'node:os';
import { expect, it } from 'vitest';
import { causeOfError, errnoOf } from './classify-error.js';
import { CLOSE_CAUSE } from './transport.js';

function systemError(code: string): NodeJS.ErrnoException {
  const errno = Object.entries(constants.errno).find(([name]) => name === code)?.[1] ?? 0;
  return Object.assign(new Error(code), { code, errno: -errno });
}

it.each([
  ['ECONNRESET', CLOSE_CAUSE.reset],
  ['ECONNREFUSED', CLOSE_CAUSE.refused],
  ['ETIMEDOUT', CLOSE_CAUSE.timeout],
  ['EHOSTUNREACH', CLOSE_CAUSE.unreachable],
  ['ENETUNREACH', CLOSE_CAUSE.unreachable],
  ['EADDRNOTAVAIL', CLOSE_CAUSE.noLocalPort],
  ['EMFILE', CLOSE_CAUSE.noDescriptor],
  ['ENFILE', CLOSE_CAUSE.noDescriptor],
  ['EPIPE', CLOSE_CAUSE.write],
  ['EACCES', CLOSE_CAUSE.other],
])('%s has its cause', (code, cause) => {
  expect(causeOfError(systemError(code))).toBe(cause);
});

it('gives errno as a positive number, and 0 where there is none', () => {
  expect(errnoOf(systemError('ECONNREFUSED'))).toBe(constants.errno.ECONNREFUSED);
  expect(errnoOf(new Error('no system error'))).toBe(0);
  expect(causeOfError(new Error('no system error'))).toBe(CLOSE_CAUSE.other);
});
