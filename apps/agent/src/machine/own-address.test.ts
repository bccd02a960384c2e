import { networkInterfaces } from 'node:os';
import { describe, expect, it } from 'vitest';
import { isOwnAddress } from './own-address.js';

describe('isOwnAddress', () => {
  it.each(['127.0.0.1', '127.8.9.10', '::1', '::ffff:127.0.0.1', '/run/web.sock'])(
    'is true for %s',
    (address) => {
      expect(isOwnAddress(address, [])).toBe(true);
    },
  );

  it('is true for the addresses of the interfaces', () => {
    expect(isOwnAddress('192.0.2.7', ['192.0.2.7', 'fe80::1'])).toBe(true);
    expect(isOwnAddress('fe80::1', ['192.0.2.7', 'fe80::1'])).toBe(true);
    for (const entry of Object.values(networkInterfaces()).flat()) {
      expect(isOwnAddress(entry?.address ?? '')).toBe(true);
    }
  });

  it.each(['128.0.0.1', '192.0.2.8', '::2', 'localhost', ''])('is false for %j', (address) => {
    expect(isOwnAddress(address, ['192.0.2.7'])).toBe(false);
  });
});
