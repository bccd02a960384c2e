import { describe, expect, it } from 'vitest';
import { parseProxy } from './proxy.js';

describe('the address of a proxy', () => {
  it.each([
    ['http://p:3128', { host: 'p', port: 3_128 }],
    ['p:3128', { host: 'p', port: 3_128 }],
    ['http://p:80/', { host: 'p', port: 80 }],
    ['http://p', { host: 'p', port: 8_080 }],
    ['p', { host: 'p', port: 8_080 }],
    ['p:', { host: 'p', port: 8_080 }],
    ['[::1]', { host: '::1', port: 8_080 }],
    ['http://[::1]:81', { host: '::1', port: 81 }],
  ])('is read, with 8080 for no port: %s', (address, proxy) => {
    expect(parseProxy(address)).toEqual(proxy);
  });

  it.each([
    ['https://p', 'proxies are spoken to by http:// only'],
    ['http://u:p@h', 'must not hold a user name or password; use proxyUser'],
    ['http://p/path', 'must be http://host:port, without a path'],
    ['http://p:99999', 'port 99999 is larger than 65535'],
    ['p:0', 'port 0 is no port that can be connected to'],
    ['http://[::1]:00', 'port 0 is no port that can be connected to'],
    ['socks5://p', 'the address must begin with http:// or https://'],
    ['', 'the address is not http://host[:port]/path'],
  ])('is refused with the reason: %s', (address, reason) => {
    expect(parseProxy(address)).toBe(reason);
  });
});
