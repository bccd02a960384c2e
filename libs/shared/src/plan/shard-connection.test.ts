import { describe, expect, it } from 'vitest';
import { type PlanInput, planSchema } from './plan.schema.js';
import { shardSchema } from './shard.schema.js';
import { peerNameOf } from './shard-connection.js';
import { splitPlan } from './split-plan.js';

function shardOf(plan: PlanInput) {
  const [shard] = splitPlan(planSchema.parse(plan), 'run', 1);
  return shardSchema.parse(JSON.parse(JSON.stringify(shard)));
}

describe('how a shard connects', () => {
  it('needs nothing for plain TCP', () => {
    const shard = shardOf({ target: 'http://h/' });
    expect(shard.connection).toEqual({});
    expect(shard.request.requestTarget).toBeUndefined();
  });

  it('takes what the plan says', () => {
    const fields = {
      bind: ['127.0.0.2'],
      addresses: 'spread',
      socketBufferBytes: 9,
      connectTimeoutMs: 5,
    } satisfies Partial<PlanInput>;
    expect(shardOf({ target: 'http://h/', ...fields }).connection).toEqual(fields);
    expect(shardOf({ target: 'http://h/', unixSocket: '/a' }).connection).toEqual({ unixSocket: '/a' });
  });

  it.each([
    ['http://h.test/', 'other', { host: 'other', port: 80 }],
    ['http://h.test:81/', 'other', { host: 'other', port: 81 }],
    ['https://h.test/', '[::1]:8443', { host: '::1', port: 8_443 }],
    ['https://h.test/', 'other:80', { host: 'other', port: 80 }],
  ])('connects elsewhere when told to: %s to %s', (target, connectTo, place) => {
    const shard = shardOf({ target, connectTo });
    expect(shard.connection?.connectTo).toEqual(place);
    expect(shard.request.headerLines[0]).toMatch(/^Host: h\.test(:81)?$/);
  });

  it.each([
    ['https://h.test/', undefined, 'h.test', 'h.test'],
    ['https://h.test/', 'other.test', 'other.test', 'other.test'],
    ['https://h.test/', '', '', 'h.test'],
    ['https://10.0.0.1/', undefined, '', '10.0.0.1'],
    ['https://[::1]/', undefined, '', '::1'],
    ['https://10.0.0.1/', 'h.test', 'h.test', 'h.test'],
  ])('sends and verifies the right names: %s with %j', (target, serverName, sent, verified) => {
    const tls = serverName === undefined ? {} : { serverName };
    expect(shardOf({ target, tls }).connection?.tls).toEqual({
      verify: true,
      resumeSessions: false,
      serverName: sent,
      verifyName: verified,
    });
  });

  it('uses the defaults of TLS for an https target without settings', () => {
    expect(shardOf({ target: 'https://h/' }).connection?.tls).toMatchObject({ verify: true });
  });

  it('keeps what is for the proxy from an https target, and gives it to the proxy', () => {
    const shard = shardOf({ target: 'https://[2001:db8::1]/a', proxy: 'p:81', proxyUser: 'u:p' });
    expect(shard.connection?.proxy).toEqual({
      host: 'p',
      port: 81,
      connectLines: [
        'CONNECT [2001:db8::1]:443 HTTP/1.1',
        'Host: [2001:db8::1]:443',
        'Proxy-Authorization: Basic dTpw',
      ],
    });
    expect(shard.request.headerLines.join()).not.toContain('Proxy');
    expect(shard.request.requestTarget).toBeUndefined();
  });

  it('asks a proxy for an http target by its whole address', () => {
    const shard = shardOf({ target: 'h:80/a?b#c', proxy: 'p', proxyUser: 'u:p', user: 'c:d' });
    expect(shard.request.requestTarget).toBe('http://h:80/a?b');
    expect(shard.request.headerLines).toContain('Proxy-Authorization: Basic dTpw');
    expect(shard.request.headerLines).toContain('Authorization: Basic Yzpk');
  });

  it('adds no credentials beside those that are in the headers', () => {
    const shard = shardOf({ target: 'http://h/', user: 'a:b', headers: ['authorization: mine'] });
    expect(shard.request.headerLines.filter((line) => /^authorization/i.test(line))).toEqual([
      'authorization: mine',
    ]);
  });
});

describe('the name of the other side', () => {
  const target = { scheme: 'http', host: 'h', port: 81, path: '/' } as const;
  it.each([
    [{}, '10.0.0.1', '10.0.0.1:81'],
    [{}, '::1', '[::1]:81'],
    [{ unixSocket: '/a' }, '', 'unix:/a'],
    [{ proxy: { host: 'p', port: 82, connectLines: [] } }, '::1', 'h:81 through [::1]:82'],
  ])('is %j %s: %s', (connection, address, name) => {
    expect(peerNameOf(connection, target, address)).toBe(name);
  });
});
