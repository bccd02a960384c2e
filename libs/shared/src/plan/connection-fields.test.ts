import { describe, expect, it } from 'vitest';
import { LIMITS } from '../limits.js';
import { formatProblem, parsePlan } from './parse-plan.js';
import type { Plan } from './plan.schema.js';

const CERT = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
const KEY = '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n';

function planOf(fields: object): Plan {
  const parsed = parsePlan({ target: 'https://h/', ...fields });
  if (!parsed.ok) throw new Error(parsed.problems.map(formatProblem).join('; '));
  return parsed.plan;
}

function problemsOf(fields: object): string[] {
  const parsed = parsePlan({ target: 'https://h/', ...fields });
  return parsed.ok ? [] : parsed.problems.map(formatProblem);
}

describe('how a plan connects', () => {
  it('takes everything, and parses to itself again', () => {
    const plan = planOf({
      user: 'u:p',
      proxy: 'http://p:3128',
      proxyUser: 'a:b',
      bind: '127.0.0.2,::1',
      addresses: 'spread',
      socketBufferBytes: 4_096,
      connectTimeout: '250ms',
      tls: { verify: false, serverName: '', minVersion: 'TLSv1.2', cert: CERT, key: KEY, ca: CERT },
    });
    expect(plan).toMatchObject({ bind: ['127.0.0.2', '::1'], connectTimeoutMs: 250 });
    expect(plan.tls).toMatchObject({ verify: false, resumeSessions: false });
    expect(planOf(plan)).toEqual(plan);
  });

  it('verifies and resumes nothing unless told otherwise', () => {
    expect(planOf({ tls: {} }).tls).toEqual({ verify: true, resumeSessions: false });
    expect(planOf({}).tls).toBeUndefined();
  });

  it.each([
    [{ target: 'http://h/', tls: {} }, 'tls: needs an https target'],
    [{ tls: { vrify: true } }, 'tls.vrify: unknown field, did you mean verify?'],
    [{ tls: 'no' }, 'tls: must be a map of TLS settings'],
    [{ tls: { cert: CERT } }, 'tls.key: is missing: tls.cert and tls.key go together'],
    [{ tls: { key: KEY } }, 'tls.cert: is missing: tls.cert and tls.key go together'],
    [{ tls: { cert: KEY, key: KEY } }, 'tls.cert: holds a private key, which belongs in key'],
    [{ tls: { ca: '/etc/ca.pem' } }, 'tls.ca: must be PEM text (-----BEGIN …), not the name of a file'],
    [{ tls: { serverName: 'a b' } }, 'tls.serverName: must be a host name, or empty for none'],
    [{ tls: { ciphers: 'A B' } }, 'tls.ciphers: must be a list without blanks'],
    [{ tls: { minVersion: 'SSLv3' } }, 'tls.minVersion: must be one of TLSv1, TLSv1.1, TLSv1.2, TLSv1.3'],
    [
      { tls: { minVersion: 'TLSv1.3', maxVersion: 'TLSv1.2' } },
      'tls.minVersion: is above tls.maxVersion TLSv1.2',
    ],
    [{ unixSocket: 'a' }, 'unixSocket: must be an absolute path'],
    [{ unixSocket: `/${'ä'.repeat(54)}` }, 'unixSocket: must be at most 107 bytes'],
    [{ unixSocket: '/a', proxy: 'p' }, 'unixSocket: cannot be used with proxy'],
    [{ unixSocket: '/a', bind: ['127.0.0.1'] }, 'unixSocket: cannot be used with bind'],
    [{ unixSocket: '/a', connectTo: 'h' }, 'unixSocket: cannot be used with connectTo'],
    [{ connectTo: 'h', proxy: 'p' }, 'connectTo: cannot be used with proxy'],
    [{ connectTo: 'u:p@h' }, 'connectTo: must be host[:port], with a port from 1 to 65535'],
    [{ connectTo: 'h:0' }, 'connectTo: must be host[:port], with a port from 1 to 65535'],
    [{ connectTo: 'h:99999' }, 'connectTo: must be host[:port], with a port from 1 to 65535'],
    [{ unixSocket: '/a', addresses: 'first' }, 'unixSocket: cannot be used with addresses'],
    [{ bind: 'localhost' }, 'bind.0: must be an IPv4 or IPv6 address'],
    [{ bind: ['127.0.0.1', '256.0.0.1'] }, 'bind.1: must be an IPv4 or IPv6 address'],
    [{ proxyUser: 'a:b' }, 'proxyUser: needs a proxy'],
    [{ user: 'a:b\r\nX: y' }, 'user: must be one line'],
    [
      { user: 'a:b', exactHeaders: true },
      'user: cannot be used with exactHeaders: write the Authorization header',
    ],
    [
      { connectTimeout: '1s', connectTimeoutMs: 1 },
      'connectTimeout: give connectTimeout or connectTimeoutMs, not both',
    ],
    [{ socketBufferBytes: 0 }, 'socketBufferBytes: must be at least 1'],
    [
      { target: 'http://h/', exactHeaders: true, proxy: 'p', proxyUser: 'a:b' },
      'proxyUser: cannot be used with exactHeaders: write the Proxy-Authorization header',
    ],
  ])('says what is wrong with %j', (fields, problem) => {
    expect(problemsOf(fields)).toEqual([problem]);
  });

  it('bounds what is carried to every agent', () => {
    const big = `${CERT}${'A'.repeat(LIMITS.maxPemBytes)}`;
    expect(problemsOf({ tls: { cert: big, key: KEY } })).toEqual([
      `tls.cert: must be at most ${LIMITS.maxPemBytes} characters`,
    ]);
    const many = Array.from({ length: LIMITS.maxBindAddresses + 1 }, () => '127.0.0.1');
    expect(problemsOf({ bind: many })).toHaveLength(1);
  });
});
