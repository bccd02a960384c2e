import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { monotonicClock } from '../clock.js';
import type { ResolvedAddress } from '../resolve-target.js';
import { featuresNeeded, type OpenTransportOptions, placesOf } from './open-transport.js';

const plain: OpenTransportOptions = {
  address: { address: '10.0.0.1', family: 4 },
  port: 80,
  connections: 4,
  clock: monotonicClock,
};

function addressesOf(...texts: readonly string[]): ResolvedAddress[] {
  return texts.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
}

function pairsOf(options: Partial<OpenTransportOptions>): string[] {
  return placesOf({ ...plain, ...options }).map(
    ({ address, localAddress }) => `${localAddress ?? '*'} ${address.address}`,
  );
}

describe('places', () => {
  it('is the one address without anything else', () => {
    expect(pairsOf({})).toEqual(['* 10.0.0.1']);
  });

  it('is every pair once, neighbours differing in both where they can', () => {
    const addresses = addressesOf('10.0.0.1', '10.0.0.2');
    const localAddresses = addressesOf('10.1.0.1', '10.1.0.2');
    expect(pairsOf({ addresses, localAddresses })).toEqual([
      '10.1.0.1 10.0.0.1',
      '10.1.0.2 10.0.0.2',
      '10.1.0.2 10.0.0.1',
      '10.1.0.1 10.0.0.2',
    ]);
  });

  it('is every pair once, whatever the numbers', () => {
    for (let targets = 1; targets <= 4; targets++) {
      for (let locals = 1; locals <= 4; locals++) {
        const addresses = addressesOf(...Array.from({ length: targets }, (_, i) => `10.0.0.${i}`));
        const localAddresses = addressesOf(...Array.from({ length: locals }, (_, i) => `10.1.0.${i}`));
        const pairs = pairsOf({ addresses, localAddresses });
        expect(pairs).toHaveLength(targets * locals);
        expect(new Set(pairs).size).toBe(targets * locals);
      }
    }
  });

  it('pairs only addresses of one family', () => {
    const addresses = addressesOf('10.0.0.1', '2001:db8::1');
    const localAddresses = addressesOf('10.1.0.1', '2001:db8::2', '10.1.0.2');
    expect(new Set(pairsOf({ addresses, localAddresses }))).toEqual(
      new Set(['10.1.0.1 10.0.0.1', '10.1.0.2 10.0.0.1', '2001:db8::2 2001:db8::1']),
    );
  });
});

describe('features', () => {
  it('needs none for plain TCP to one address', () => {
    expect(featuresNeeded(plain)).toEqual([]);
    expect(featuresNeeded({ ...plain, addresses: [plain.address] })).toEqual([]);
  });

  it('names each that is needed', () => {
    const tls = { verify: true, serverName: '', verifyName: 'h', resumeSessions: false };
    expect(
      featuresNeeded({
        ...plain,
        tls,
        tunnelRequest: Buffer.from('CONNECT'),
        unixPath: '/a',
        addresses: addressesOf('10.0.0.1', '10.0.0.2'),
        localAddresses: addressesOf('10.1.0.1'),
        socketBufferBytes: 1,
      }),
    ).toEqual(['tls', 'tunnel', 'unix', 'addresses', 'bind', 'buffers']);
  });
});
