// Where connections go to and come from: unix sockets, IPv6, local addresses, names with several addresses.

import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { namesAre, runPlan } from './shard-through.js';

/** What the server saw of each request. */
interface Seen {
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly host: string | undefined;
}

const hasIpv6 = Object.values(networkInterfaces()).some((entries) =>
  entries?.some((entry) => entry.address === '::1'),
);
const isLinux = process.platform === 'linux';

describe('places', () => {
  const seen: Seen[] = [];
  let server: Server;
  let folder = '';

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'broadside-places-'));
    seen.length = 0;
    server = createServer((request: IncomingMessage, reply) => {
      const { remoteAddress: from, localAddress: to } = request.socket;
      seen.push({ from, to, host: request.headers.host });
      reply.end('here');
    });
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
    await rm(folder, { recursive: true, force: true });
  });

  async function listen(where: { host: string } | { path: string }): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen('host' in where ? { ...where, port: 0 } : where, resolve);
    });
    const address: AddressInfo | string | null = server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  it('reaches a unix socket, with the host of the target in the request', async () => {
    const path = join(folder, 'a.sock');
    await listen({ path });
    const run = await runPlan({ target: 'http://app.test/', requests: 20, connections: 2, unixSocket: path });
    expect(run.count('completed')).toBe(20);
    expect(run.count('connectionsOpened')).toBe(2);
    expect(seen[0]?.host).toBe('app.test');
    expect(run.end.address).toBe(path);
  });

  it('says which unix socket is not there', async () => {
    const run = await runPlan({
      target: 'http://app.test/',
      requests: 1,
      connections: 1,
      onSocketError: 'stop',
      unixSocket: join(folder, 'none.sock'),
    });
    expect(run.failures).toEqual({ connectOther: 1 });
    const place = `unix:${join(folder, 'none.sock')} (ENOENT)`;
    expect(run.end.fatal?.message).toContain(`${place}: there is no such unix socket`);
    expect(run.end.failureReasons).toEqual([{ reason: 'there is no such unix socket', count: 1 }]);
  });

  it('asks the policy about a unix socket by its path', async () => {
    const asked: unknown[] = [];
    const refusalOf = (place: unknown): string => {
      asked.push(place);
      return 'not that';
    };
    const plan = { target: 'http://app.test/', requests: 1, connections: 1, unixSocket: '/run/x.sock' };
    await expect(runPlan(plan, { refusalOf })).rejects.toThrow('does not allow load on unix:/run/x.sock');
    expect(asked).toEqual([{ unixSocket: '/run/x.sock' }]);
  });

  it.runIf(hasIpv6)('reaches an IPv6 address and names it in brackets', async () => {
    const port = await listen({ host: '::1' });
    const run = await runPlan({ target: `http://[::1]:${port}/`, requests: 4, connections: 2 });
    expect(run.count('completed')).toBe(4);
    expect(seen[0]).toEqual({ from: '::1', to: '::1', host: `[::1]:${port}` });
  });

  it.runIf(hasIpv6)('binds to an IPv6 address, which leaves out the IPv4 addresses of the name', async () => {
    const port = await listen({ host: '::1' });
    const run = await runPlan(
      { target: `http://both.test:${port}/`, requests: 2, connections: 1, bind: ['::1'] },
      namesAre({ 'both.test': ['127.0.0.1', '::1'] }),
    );
    expect(run.count('completed')).toBe(2);
    expect(seen[0]?.from).toBe('::1');
  });

  it.runIf(isLinux)('takes local addresses in turn', async () => {
    const port = await listen({ host: '127.0.0.1' });
    const bind = '127.0.0.2,127.0.0.3,127.0.0.4';
    const run = await runPlan({ target: `http://127.0.0.1:${port}/`, requests: 6, connections: 6, bind });
    expect(run.count('completed')).toBe(6);
    for (const address of bind.split(',')) {
      expect(seen.filter(({ from }) => from === address)).toHaveLength(2);
    }
  });

  it('refuses a local address that this machine has not, before any load', async () => {
    const plan = { target: 'http://127.0.0.1:9/', requests: 1, connections: 1, bind: ['192.0.2.7'] };
    await expect(runPlan(plan)).rejects.toThrow(
      'cannot bind connections to the local address 192.0.2.7: this machine does not have it',
    );
  });

  it('refuses local addresses of a family that the target has not', async () => {
    const plan = { target: 'http://127.0.0.1:9/', requests: 1, connections: 1, bind: ['::1'] };
    await expect(runPlan(plan)).rejects.toThrow(/127\.0\.0\.1 .*no address of the family|cannot bind/);
  });

  it.runIf(isLinux).each([
    ['first', ['127.0.0.2']],
    ['spread', ['127.0.0.2', '127.0.0.3', '127.0.0.4']],
  ] as const)('of a name with several addresses uses: %s', async (addresses, used) => {
    const port = await listen({ host: '0.0.0.0' });
    const run = await runPlan(
      { target: `http://several.test:${port}/`, requests: 12, connections: 6, addresses },
      namesAre({ 'several.test': ['127.0.0.2', '127.0.0.3', '127.0.0.4'] }),
    );
    expect(run.count('completed')).toBe(12);
    expect(new Set(seen.map(({ to }) => to))).toEqual(new Set(used));
    expect(run.end.used).toEqual(used);
    expect(run.end.addresses).toHaveLength(3);
  });

  it.runIf(isLinux)('pairs several addresses with several local ones', async () => {
    const port = await listen({ host: '0.0.0.0' });
    const run = await runPlan(
      {
        target: `http://several.test:${port}/`,
        requests: 4,
        connections: 4,
        addresses: 'spread',
        bind: '127.0.0.4,127.0.0.5',
      },
      namesAre({ 'several.test': ['127.0.0.2', '127.0.0.3'] }),
    );
    expect(run.count('completed')).toBe(4);
    expect(new Set(seen.map(({ from, to }) => `${from} ${to}`)).size).toBe(4);
  });

  it.runIf(isLinux)('works with the sizes of socket buffers that are asked for', async () => {
    const port = await listen({ host: '127.0.0.1' });
    const run = await runPlan({
      target: `http://127.0.0.1:${port}/`,
      requests: 20,
      connections: 2,
      socketBufferBytes: 4_096,
    });
    expect(run.count('completed')).toBe(20);
    expect(run.end.transportNote).toBeUndefined();
  });
});
