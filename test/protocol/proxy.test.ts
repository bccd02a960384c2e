import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { RunHooks } from '../../libs/engine/dist/testing/run-shard-against.js';
import { type Certificates, makeCertificates } from '../support/certificates.js';
import { canRun } from '../support/programs.js';
import { ForwardProxy, type ForwardProxyOptions } from '../targets/forward-proxy.js';
import { TlsTarget } from '../targets/tls-target.js';
import { WellBehavedTarget } from '../targets/well-behaved-target.js';
import { runPlan } from './shard-through.js';

const running: { stop(): Promise<void> }[] = [];

afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
});

async function startedProxy(options: ForwardProxyOptions = {}) {
  const proxy = new ForwardProxy(options);
  const address = await proxy.start();
  running.push(proxy);
  return { proxy, address };
}

async function startedTarget() {
  const target = new WellBehavedTarget();
  await target.start();
  running.push(target);
  return target;
}

describe('a proxy before an http target', () => {
  it('reads the whole address in the request line, over kept connections', async () => {
    const { proxy, address } = await startedProxy();
    const target = await startedTarget();
    const run = await runPlan({ target: `${target.url}/a?b`, requests: 40, connections: 2, proxy: address });
    expect(run.count('completed')).toBe(40);
    expect(run.count('connectionsOpened')).toBe(2);
    expect(new Set(proxy.requestLines)).toEqual(new Set([`GET ${target.url}/a?b HTTP/1.1`]));
    expect(target.counters.requestsSeen).toBe(40);
    expect(run.end.address).toBe('127.0.0.1');
  });

  it('gets its credentials, and the target its own', async () => {
    const { proxy, address } = await startedProxy({ credentials: 'p:q' });
    const target = await startedTarget();
    const plan = { target: target.url, requests: 2, connections: 1, proxy: address, user: 'u:ö' };
    const run = await runPlan({ ...plan, proxyUser: 'p:q' });
    expect(run.failures).toEqual({});
    expect(proxy.authorizations).toEqual(['Basic cDpx', 'Basic cDpx']);
    expect(target.lastRequest?.headers.get('authorization')).toBe('Basic dTrDtg==');
    const without = await runPlan(plan);
    expect(without.failures).toEqual({ status: 2 });
  });

  it('is not asked to resolve: a target that only the proxy knows is enough', async () => {
    const { proxy, address } = await startedProxy();
    const run = await runPlan({
      target: 'http://nowhere.invalid/',
      requests: 1,
      connections: 1,
      proxy: address,
      timeoutMs: 5_000,
    });
    expect(proxy.requestLines).toEqual(['GET http://nowhere.invalid/ HTTP/1.1']);
    // The proxy knows it no better than we do.
    expect(run.count('completed')).toBe(0);
  });

  it('cannot be the way round the target policy', async () => {
    const { proxy, address } = await startedProxy();
    const refusalOf: RunHooks['refusalOf'] = (place) =>
      'host' in place && place.address === '127.0.0.1' ? undefined : 'not that';
    const plan = { target: 'http://192.0.2.1/', requests: 1, connections: 1, proxy: address };
    await expect(runPlan(plan, { refusalOf })).rejects.toThrow('does not allow load on 192.0.2.1');
    expect(proxy.requestLines).toEqual([]);
  });
});

describe.runIf(canRun('openssl'))('a proxy before an https target', () => {
  let certificates: Certificates;
  beforeAll(async () => {
    certificates = await makeCertificates();
  });
  afterAll(() => certificates.remove());

  async function startedTls() {
    const target = new TlsTarget({ cert: certificates.server.cert, key: certificates.server.key });
    const port = await target.start();
    running.push(target);
    return { target, port };
  }

  it.each([
    ['at once', {}],
    ['a byte at a time', { isSlow: true }],
  ])('opens a tunnel for each connection, its reply coming %s', async (_title, options) => {
    const { proxy, address } = await startedProxy({ ...options, credentials: 'p:q' });
    const { target, port } = await startedTls();
    const run = await runPlan({
      target: `https://127.0.0.1:${port}/a`,
      requests: 40,
      connections: 4,
      proxy: address,
      proxyUser: 'p:q',
      tls: { ca: certificates.ca },
    });
    expect(run.failures).toEqual({});
    expect(run.count('completed')).toBe(40);
    expect(proxy.requestLines).toEqual(Array.from({ length: 4 }, () => `CONNECT 127.0.0.1:${port} HTTP/1.1`));
    expect(target.heads).toHaveLength(40);
    expect(target.heads[0]).toMatch(/^GET \/a HTTP\/1\.1\r\n/);
    expect(target.heads[0]).not.toMatch(/proxy-authorization/i);
    expect(run.end.tls).toMatchObject({ protocol: 'TLSv1.3', handshakes: 4 });
  });

  it('opens a new tunnel for each request without keep-alive, and resumes sessions through it', async () => {
    const { proxy, address } = await startedProxy();
    const { target, port } = await startedTls();
    const run = await runPlan({
      target: `https://127.0.0.1:${port}/`,
      requests: 10,
      connections: 1,
      keepAlive: false,
      proxy: address,
      tls: { verify: false, resumeSessions: true },
    });
    expect(run.count('completed')).toBe(10);
    expect(proxy.requestLines).toHaveLength(10);
    expect(target.handshakes.filter((handshake) => handshake.isResumed)).toHaveLength(9);
  });

  it.each([
    [
      'wants credentials',
      { credentials: 'p:q' },
      /refused the tunnel: 407 Proxy Authentication Required; it wants other/,
    ],
    [
      'forbids it',
      { connectReply: 'HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno' },
      /refused the tunnel: 403 Forbidden$/,
    ],
    ['does not speak HTTP', { connectReply: 'SSH-2.0-x\r\n' }, /did not answer CONNECT in HTTP/],
    ['closes', { connectReply: '' }, /closed the connection on CONNECT/],
    ['closes within its reply', { connectReply: 'HTTP/1.1 200 O' }, /closed the connection on CONNECT/],
    [
      'sends a head without end',
      { connectReply: `HTTP/1.1 200 OK\r\nA: ${'a'.repeat(20_000)}` },
      /longer than 16384 bytes/,
    ],
    ['says nothing', { isSilent: true }, /did not answer CONNECT in time/],
  ])('fails with a reason where the proxy %s', async (_title, options, reason) => {
    const { address } = await startedProxy(options);
    const run = await runPlan({
      target: 'https://127.0.0.1:9/',
      requests: 2,
      connections: 1,
      connectTimeoutMs: 300,
      onSocketError: 'continue',
      proxy: address,
      tls: { verify: false },
    });
    expect(run.failures).toEqual({ connectOther: 2 });
    expect(run.end.failureReasons).toHaveLength(1);
    expect(run.end.failureReasons[0]?.reason).toMatch(reason);
    expect(run.end.failureReasons[0]?.count).toBe(2);
  });

  it('gives the status in the message that ends a run', async () => {
    const { address } = await startedProxy({ connectReply: 'HTTP/1.0 502 Bad Gateway\r\n\r\n' });
    const run = await runPlan({
      target: 'https://target.test/',
      requests: 2,
      connections: 1,
      onSocketError: 'stop',
      proxy: address,
    });
    expect(run.end.fatal?.message).toMatch(
      /^cannot connect to target\.test through 127\.0\.0\.1:\d+: the proxy refused the tunnel: 502 Bad Gateway$/,
    );
  });

  it('puts what goes wrong behind the tunnel down to TLS', async () => {
    const { address } = await startedProxy();
    const { port } = await startedTls();
    const run = await runPlan({
      target: `https://127.0.0.1:${port}/`,
      requests: 2,
      connections: 1,
      proxy: address,
    });
    expect(run.failures).toEqual({ tls: 2 });
    expect(run.end.failureReasons[0]?.reason).toMatch(/certificate/);
  });
});
