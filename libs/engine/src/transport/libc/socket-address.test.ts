import { describe, expect, it } from 'vitest';
import { loadLibc } from './libc.js';
import { socketAddressOf } from './socket-address.js';

/** As many bytes of 0. */
const zeros = (count: number): number[] => Array.from({ length: count }, () => 0);

const loaded = await loadLibc();

describe.runIf(loaded.ok)('socketAddressOf', () => {
  const encode = (address: string, family: 4 | 6, port = 80): number[] => {
    if (!loaded.ok) throw new Error(loaded.reason);
    return [...socketAddressOf(loaded.libc, { address, family }, port)];
  };

  it('encodes sockaddr_in', () => {
    expect(encode('192.0.2.7', 4, 8080)).toEqual([2, 0, 0x1f, 0x90, 192, 0, 2, 7, ...zeros(8)]);
  });

  it('encodes sockaddr_in6', () => {
    const address = [0x20, 0x01, 0x0d, 0xb8, ...zeros(11), 1];
    expect(encode('2001:db8::1', 6)).toEqual([10, 0, 0, 80, 0, 0, 0, 0, ...address, 0, 0, 0, 0]);
  });

  it('takes the zone of a link-local address as a number or as the name of an interface', () => {
    expect(encode('fe80::1%5', 6).slice(24)).toEqual([5, 0, 0, 0]);
    expect(encode('fe80::1%lo', 6).slice(24)).not.toEqual([0, 0, 0, 0]);
    expect(() => encode('fe80::1%nosuchif', 6)).toThrow('no network interface nosuchif');
  });

  it('refuses what is no address', () => {
    expect(() => encode('localhost', 4)).toThrow('localhost is not an IPv4 address');
    expect(() => encode('127.0.0.1', 6)).toThrow('127.0.0.1 is not an IPv6 address');
  });
});

describe('loadLibc', () => {
  it('works on Linux on the supported processors, and says in one line why not elsewhere', () => {
    const isSupported = process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch);
    expect(loaded.ok).toBe(isSupported);
    if (!loaded.ok) expect(loaded.reason).toMatch(/^[^\n]+$/);
  });
});
