import { describe, expect, it } from 'vitest';
import { formatTarget, hostHeaderOf, parseTarget } from './target.js';

describe('parseTarget', () => {
  it.each([
    ['http://h/', { scheme: 'http', host: 'h', port: 80, path: '/' }],
    ['h', { scheme: 'http', host: 'h', port: 80, path: '/' }],
    ['h:8080/x', { scheme: 'http', host: 'h', port: 8080, path: '/x' }],
    ['http://h?q=1', { scheme: 'http', host: 'h', port: 80, path: '/?q=1' }],
    ['https://h', { scheme: 'https', host: 'h', port: 443, path: '/' }],
    ['http://h:/', { scheme: 'http', host: 'h', port: 80, path: '/' }],
    ['http://[::1]:99/a', { scheme: 'http', host: '::1', port: 99, path: '/a' }],
    ['http://h/a?b=c#d', { scheme: 'http', host: 'h', port: 80, path: '/a?b=c' }],
    ['http://h/a/../b//c%20d?x=/y@z', { scheme: 'http', host: 'h', port: 80, path: '/a/../b//c%20d?x=/y@z' }],
    ['http://h#f', { scheme: 'http', host: 'h', port: 80, path: '/' }],
  ])('splits %s', (address, target) => {
    expect(parseTarget(address)).toEqual(target);
  });

  it.each([
    ['', 'not http://host'],
    ['http://', 'not http://host'],
    ['http:///x', 'not http://host'],
    ['HTTP://h/', 'must begin with'],
    ['ftp://h/', 'must begin with'],
    ['http://h:65536/', 'larger than 65535'],
    ['http://h:99999999999999999999/', 'larger than 65535'],
    ['http://h:0/', 'port 0'],
    ['https://[::1]:000/', 'port 0'],
    ['h:0', 'port 0'],
    ['http://h:8x/', 'not http://host'],
    ['http://h /', 'a blank'],
    ['http://h/a b', 'a blank'],
    ['http://h/\t', 'a control character'],
    ['http://h/\u007f', 'a control character'],
    ['http://u:p@h/', 'must not hold a user name'],
    ['u@h', 'must not hold a user name'],
    ['http://[::1/', 'not http://host'],
    ['http://[fe80::1%25eth0]/', 'not http://host'],
  ])('refuses %j with a reason', (address, reason) => {
    expect(parseTarget(address)).toEqual(expect.stringContaining(reason));
  });
});

describe('hostHeaderOf', () => {
  it.each([
    ['http://h/', 'h'],
    ['http://h:80/', 'h'],
    ['http://h:443/', 'h:443'],
    ['https://h:443/', 'h'],
    ['http://[::1]:8080/', '[::1]:8080'],
  ])('of %s is %s', (address, header) => {
    const target = parseTarget(address);
    if (typeof target === 'string') throw new Error(target);
    expect(hostHeaderOf(target)).toBe(header);
    expect(parseTarget(formatTarget(target))).toEqual(target);
  });
});
