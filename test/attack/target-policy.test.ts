// Load that somebody aims where none may go: refused by the coordinator before anything is stored, and again by the
// agent before a socket is made. Nothing here ever connects to an address that is not loopback.

import { type ErrorBody, ROUTES, type RunSummary } from '@broadside/shared';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AgentBench } from '../agent/agent-bench.js';
import { shardOf } from '../agent/shard-of.js';
import { CoordinatorUnderTest } from '../coordinator/coordinator-under-test.js';
import { runPlan } from '../protocol/shard-through.js';
import { WellBehavedTarget } from '../targets/well-behaved-target.js';

const METADATA = '169.254.169.254';
const OUTSIDE = '192.0.2.1';

describe('a coordinator with the rules of a cluster', () => {
  let under: CoordinatorUnderTest;
  beforeAll(async () => {
    under = await CoordinatorUnderTest.start({
      allowTargets: ['loopback', 'private', 'named.test'],
      denyTargets: ['10.66.0.0/16', '127.0.0.1:22'],
    });
  });
  afterAll(() => under.coordinator.close());

  it.each([
    ['a target', { target: `http://${OUTSIDE}/` }, `${OUTSIDE}:80: no rule allows it`],
    ['a metadata service', { target: `http://${METADATA}/` }, 'must be allowed by their own address'],
    ['the same as a number', { target: 'http://2852039166/' }, 'must be allowed by their own address'],
    [
      'the same within IPv6',
      { target: 'http://[::ffff:a9fe:a9fe]/' },
      'must be allowed by their own address',
    ],
    ['a denied network', { target: 'http://10.66.1.1/' }, 'the rule deny 10.66.0.0/16 forbids it'],
    ['a denied port', { target: 'http://127.0.0.1:22/' }, 'the rule deny 127.0.0.1:22 forbids it'],
    ['a place instead of the target', { target: 'http://127.0.0.1/', connectTo: OUTSIDE }, 'no rule allows'],
    ['a proxy', { target: 'http://127.0.0.1/', proxy: OUTSIDE }, `${OUTSIDE}:8080: no rule allows it`],
    ['a target behind a proxy', { target: `http://${METADATA}/`, proxy: '127.0.0.1:9' }, 'their own address'],
    ['a unix socket', { target: 'http://h/', unixSocket: '/var/run/docker.sock' }, 'no rule allows it'],
  ])('refuses %s in one line, and stores nothing', async (_title, fields, reason) => {
    const { status, body } = await under.request<ErrorBody>('POST', ROUTES.runs, { requests: 1, ...fields });
    expect(status).toBe(403);
    expect(body.error.code).toBe('notAllowed');
    expect(body.error.hint).toContain('--allow-target');
    expect(body.error.message).toContain(reason);
    expect(body.error.message).not.toContain('\n');
    expect((await under.request<RunSummary[]>('GET', ROUTES.runs)).body).toEqual([]);
  });
});

describe('an agent', () => {
  let bench: AgentBench;
  beforeEach(async () => {
    bench = new AgentBench();
    await bench.open();
  });
  afterEach(() => bench.close());

  const aimedAt = (host: string) =>
    shardOf(bench.targetPort, { target: { scheme: 'http', host, port: bench.targetPort, path: '/' } });

  it('refuses what its coordinator allows and its own rules do not', async () => {
    const coordinator = await bench.openCoordinator();
    const { queue } = await bench.join(coordinator, { targets: { deny: ['127.0.0.0/8'] } });
    await expect(queue.give(aimedAt('127.0.0.1'))).rejects.toThrow('deny 127.0.0.0/8 forbids it');
    const { fatal } = await coordinator.first('refused');
    expect(fatal.code).toBe('NOT_ALLOWED');
    expect(fatal.message).toContain('by the policy of the agent');
    expect(bench.target.counters.requestsSeen).toBe(0);
  });

  it('refuses what its coordinator does not allow, by the address that a name has here', async () => {
    const coordinator = await bench.openCoordinator({ targets: { allow: ['private'], deny: [] } });
    const { queue } = await bench.join(coordinator);
    await expect(queue.give(aimedAt('localhost'))).rejects.toThrow('by the policy of the coordinator');
    expect(bench.target.counters.requestsSeen).toBe(0);
  });

  it('refuses a metadata address that only its coordinator names', async () => {
    const coordinator = await bench.openCoordinator({ targets: { allow: [METADATA], deny: [] } });
    const { queue } = await bench.join(coordinator);
    await expect(queue.give(aimedAt(METADATA))).rejects.toThrow('by the policy of the agent');
  });

  it('refuses everything when its coordinator says nothing about targets', async () => {
    const coordinator = await bench.openCoordinator({ targets: { allow: [], deny: [] } });
    const { queue } = await bench.join(coordinator);
    await expect(queue.give(aimedAt('127.0.0.1'))).rejects.toThrow('allowed: nothing');
  });
});

describe('a name whose addresses change (DNS rebinding)', () => {
  const target = new WellBehavedTarget();
  beforeAll(() => target.start());
  afterAll(() => target.stop());

  /** Gives the answers one after the other, the last one for ever. */
  function resolverOf(...answers: readonly string[][]) {
    let asked = 0;
    const lookup = (): Promise<readonly { address: string; family: 4 }[]> => {
      const answer = answers[Math.min(asked, answers.length - 1)] ?? [];
      asked++;
      return Promise.resolve(answer.map((address) => ({ address, family: 4 })));
    };
    return { lookup, asked: () => asked };
  }
  const plan = () => ({
    target: `http://rebind.test:${target.port}/`,
    requests: 40,
    connections: 4,
    keepAlive: false,
  });
  const onlyLoopback = (place: object): string | undefined =>
    'address' in place && place.address === '127.0.0.1' ? undefined : 'it is not loopback';

  it('is asked for once: all connections go to the address that was checked', async () => {
    const resolver = resolverOf(['127.0.0.1'], [METADATA]);
    const run = await runPlan(plan(), { lookup: resolver.lookup, refusalOf: onlyLoopback });
    expect(run.count('completed')).toBe(40);
    expect(run.count('connectionsOpened')).toBe(40);
    expect(resolver.asked()).toBe(1);
    expect(target.counters.requestsSeen).toBe(40);
  });

  it('is refused before a socket is made when its address is not allowed', async () => {
    const openTransport = (): never => {
      throw new Error('a transport was opened');
    };
    const hooks = { ...resolverOf([METADATA], ['127.0.0.1']), refusalOf: onlyLoopback, openTransport };
    await expect(runPlan(plan(), hooks)).rejects.toThrow(`rebind.test (${METADATA}): it is not loopback`);
  });

  it('with several addresses uses the allowed ones only', async () => {
    const used: unknown[] = [];
    const openTransport = (options: {
      address: object;
      addresses?: readonly object[] | undefined;
    }): never => {
      used.push(options.address, options.addresses);
      throw new Error('opened');
    };
    const { lookup } = resolverOf([METADATA, '127.0.0.1', OUTSIDE]);
    const hooks = { lookup, refusalOf: onlyLoopback, openTransport };
    await expect(runPlan({ ...plan(), addresses: 'spread' }, hooks)).rejects.toThrow('opened');
    expect(used).toEqual([{ address: '127.0.0.1', family: 4 }, undefined]);
  });

  it('behind a proxy is refused when one of its addresses is: the proxy may take any', async () => {
    const { lookup } = resolverOf(['127.0.0.1', METADATA]);
    const hooks = { lookup, refusalOf: onlyLoopback };
    await expect(runPlan({ ...plan(), proxy: '127.0.0.1:9' }, hooks)).rejects.toThrow('it is not loopback');
  });
});
