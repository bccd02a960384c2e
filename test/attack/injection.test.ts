// Text in a plan or in a path that wants to become more than text: refused at the door, with the place of it.

import {
  type ErrorBody,
  LIMITS,
  planSchema,
  ROUTES,
  type RunSummary,
  type Shard,
  shardSchema,
  splitPlan,
} from '@broadside/shared';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { shardOf } from '../agent/shard-of.js';
import { CoordinatorUnderTest } from '../coordinator/coordinator-under-test.js';

const LINE = 'x\r\nInjected: 1';

let under: CoordinatorUnderTest;
beforeAll(async () => {
  under = await CoordinatorUnderTest.start();
});
afterAll(() => under.coordinator.close());

describe('a plan', () => {
  it.each<[string, object, string]>([
    ['header line', { headers: [`A: ${LINE}`] }, 'headers.0: a header line must not hold a line break'],
    ['header line with only a line feed', { headers: ['A: b\nC: d'] }, 'headers.0: '],
    ['header value of a map', { headers: { A: LINE } }, 'headers.0: a header line must not hold'],
    ['header name of a map', { headers: { [`A: b\r\nC`]: 'd' } }, 'headers'],
    ['method', { method: `GET / HTTP/1.1\r\nA: b\r\n\r\nGET` }, 'method: not an HTTP method'],
    ['path', { target: 'http://127.0.0.1/a HTTP/1.1\r\nA: b' }, 'target: the address has a blank'],
    ['host', { target: 'http://127.0.0.1\r\nA: b/' }, 'target: the address has a blank'],
    ['host of other letters', { target: 'http://１２７.0.0.1/' }, 'target: the host name may hold'],
    ['host that is too long', { target: `http://${'a.'.repeat(127)}com/` }, 'at most 253 are possible'],
    ['host that is no IPv6 address', { target: 'http://[1]/' }, 'target: [1] is not an IPv6 address'],
    ['place to connect to', { connectTo: 'h\r\nA: b' }, 'connectTo: must be host[:port]'],
    ['place with a long host', { connectTo: 'a'.repeat(300) }, 'connectTo: must be host[:port]'],
    ['proxy', { proxy: 'h\r\nA: b' }, 'proxy: the address has a blank'],
    ['user', { user: `me:${LINE}` }, 'user: must be one line'],
    ['user of the proxy', { proxy: 'h', proxyUser: `me:${LINE}` }, 'proxyUser: must be one line'],
    [
      'server name',
      { target: 'https://h/', tls: { serverName: LINE } },
      'tls.serverName: must be a host name',
    ],
    ['name', { name: LINE }, 'name: must be one line'],
  ])('with a line in its %s is refused', async (_title, fields, reason) => {
    const plan = { target: 'http://127.0.0.1:9/', requests: 1, ...fields };
    const { status, body } = await under.request<ErrorBody>('POST', ROUTES.runs, plan);
    expect(status).toBe(400);
    expect(body.error.message).toContain(reason);
    expect(body.error.message).not.toMatch(/[\r\n]/);
    expect((await under.request<RunSummary[]>('GET', ROUTES.runs)).body).toEqual([]);
  });

  it('takes the longest host that there can be, and gives a shard that is valid', () => {
    const host = `${'a'.repeat(62)}.`.repeat(4).slice(0, LIMITS.maxHostLength - 1);
    const plan = planSchema.parse({ target: `http://${host}/`, requests: 1 });
    expect(shardSchema.safeParse(splitPlan(plan, 'run', 1)[0]).success).toBe(true);
  });
});

describe('a shard, as its agent checks it', () => {
  const shard = shardOf(9);
  const proxied = (connectLine: string): Partial<Shard> => ({
    connection: { proxy: { host: 'h', port: 1, connectLines: [connectLine] } },
  });
  it.each<[string, Partial<Shard>]>([
    ['method', { request: { ...shard.request, method: 'GET\r\n' } }],
    ['path', { target: { ...shard.target, path: '/\r\nA: b' } }],
    ['request target', { request: { ...shard.request, requestTarget: '/ HTTP/1.1\r\n' } }],
    ['header line', { request: { ...shard.request, headerLines: [LINE] } }],
    ['line of a tunnel', proxied(LINE)],
  ])('with a line in its %s is refused', (_title, changes) => {
    expect(shardSchema.safeParse(shard).success).toBe(true);
    expect(shardSchema.safeParse({ ...shard, ...changes }).success).toBe(false);
  });
});

describe('a run id', () => {
  it.each(['..', '../../etc/passwd', '..%2f..%2fetc%2fpasswd', '%2e%2e', 'a%00b', 'a'.repeat(10_000), '%'])(
    'like %j names no run',
    async (id) => {
      for (const method of ['GET', 'DELETE']) {
        // As raw text: a URL object would resolve the dots away.
        const { status, body } = await under.rawRequest(method, `${ROUTES.runs}/${id}`);
        expect([400, 404, 414, 431]).toContain(status);
        expect(body).not.toContain('root:');
      }
    },
  );
});
