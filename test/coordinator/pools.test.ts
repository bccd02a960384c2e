// Real agents with labels on a real queue: who gets which run, who waits, and who passes by.
import { type Agent, startAgent } from '@broadside/agent';
import {
  type AgentSummary,
  type AuditEntry,
  type ErrorBody,
  type Labels,
  type PlanInput,
  ROUTES,
  type RunDetail,
  type RunSummary,
} from '@broadside/shared';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canRun } from '../support/programs.js';
import { RedisServer } from '../support/redis.js';
import { WellBehavedTarget } from '../targets/well-behaved-target.js';
import { CoordinatorUnderTest, until } from './coordinator-under-test.js';

const AGENTS: readonly (readonly [string, Labels])[] = [
  ['eu-1', { zone: 'eu', disk: 'fast' }],
  ['eu-2', { zone: 'eu' }],
  ['us-1', { zone: 'us' }],
  ['bare', {}],
];

describe.runIf(canRun('redis-server'))('runs that ask for a pool', () => {
  const logger = pino({ level: 'silent' });
  const agents: Agent[] = [];
  const target = new WellBehavedTarget({ delayMs: 2 });
  let redis: RedisServer;
  let under: CoordinatorUnderTest;

  beforeAll(async () => {
    redis = await RedisServer.start();
    under = await CoordinatorUnderTest.start({ redisUrl: redis.url });
    await target.start();
    const { url: coordinatorUrl, joinToken } = under.coordinator;
    for (const [name, labels] of AGENTS) {
      agents.push(await startAgent({ coordinatorUrl, joinToken, name, labels, slots: 1, logger }));
    }
  });

  afterAll(async () => {
    for (const agent of agents) await agent.close();
    await under.coordinator.close();
    await target.stop();
    await redis.stop();
  });

  /** A run that goes on until it is stopped. */
  const endless = (wish: Partial<PlanInput>): PlanInput => ({
    target: target.url,
    connections: 2,
    duration: '10m',
    ...wish,
  });
  const stateOf = async (runId: string): Promise<RunSummary> =>
    (await under.request<RunSummary>('GET', `${ROUTES.runs}/${runId}`)).body;
  const stop = (runId: string): Promise<unknown> => under.request('DELETE', `${ROUTES.runs}/${runId}`);
  const isRunning = async (runId: string): Promise<boolean> => (await stateOf(runId)).state === 'running';
  const namesIn = ({ report }: RunDetail): string[] =>
    (report?.agents ?? []).map(({ name }) => name).toSorted();

  it('shows the labels of the agents', async () => {
    const { body } = await under.request<AgentSummary[]>('GET', ROUTES.agents);
    expect(new Map(body.map(({ name, labels }) => [name, labels ?? {}]))).toEqual(new Map(AGENTS));
  });

  it('gives each run the agents that have all its labels, and no others', async () => {
    const wish = { target: target.url, connections: 4, requests: 40 };
    const zone = await under.finished(await under.post({ ...wish, on: { zone: 'eu' } }));
    expect(namesIn(zone)).toEqual(['eu-1', 'eu-2']);
    expect(zone.report?.agents.find(({ name }) => name === 'eu-1')?.labels).toEqual({
      zone: 'eu',
      disk: 'fast',
    });
    const both = await under.finished(await under.post({ ...wish, on: { zone: 'eu', disk: 'fast' } }));
    expect(namesIn(both)).toEqual(['eu-1']);
  });

  it('keeps the order within a pool, and lets another pool pass', async () => {
    const first = await under.post(endless({ on: { zone: 'eu' }, slots: 1 }));
    await until(() => isRunning(first));
    const large = await under.post(endless({ on: { zone: 'eu' }, slots: 2 }));
    const small = await under.post(endless({ on: { zone: 'eu' }, slots: 1 }));
    const other = await under.post(endless({ on: { zone: 'us' } }));
    await until(() => isRunning(other));
    expect(await stateOf(large)).toMatchObject({
      state: 'queued',
      position: 1,
      reason: 'waits for free slots with zone=eu: wants 2, 1 of 2 are free',
    });
    expect(await stateOf(small)).toMatchObject({
      state: 'queued',
      position: 2,
      reason: 'waits for 1 older run',
    });
    // A run that waits can be taken out, and the next one moves up.
    await stop(large);
    expect((await stateOf(large)).state).toBe('aborted');
    await until(() => isRunning(small));
    for (const runId of [first, small, other]) {
      await stop(runId);
      await under.finished(runId);
    }
  });

  it('starts a run that waited when its slots become free', async () => {
    const first = await under.post(endless({ on: { zone: 'us' } }));
    await until(() => isRunning(first));
    const second = await under.post({ target: target.url, connections: 2, requests: 20, on: { zone: 'us' } });
    expect((await stateOf(second)).state).toBe('queued');
    await stop(first);
    const { state, report } = await under.finished(second);
    expect(state).toBe('finished');
    expect(report?.counters.completed).toBe(20);
  });

  it('ends a run that has waited for too long, and says why', async () => {
    const first = await under.post(endless({ on: { zone: 'us' } }));
    await until(() => isRunning(first));
    const late = await under.finished(await under.post(endless({ on: { zone: 'us' }, maxWait: '200ms' })));
    expect(late.state).toBe('failed');
    expect(late.reason).toBe(
      'got no slots within 200ms: waits for free slots with zone=us: wants 1, 0 of 1 are free',
    );
    await stop(first);
    await under.finished(first);
  });

  it('refuses in one line what the agents that are there could never carry out', async () => {
    const refused = async (wish: Partial<PlanInput>): Promise<ErrorBody['error'] & { status: number }> => {
      const { status, body } = await under.request<ErrorBody>('POST', ROUTES.runs, endless(wish));
      return { status, ...body.error };
    };
    expect(await refused({ on: { zone: 'asia' } })).toEqual({
      status: 422,
      code: 'noSuchAgents',
      hint: 'ask for other labels, or start more agents',
      message:
        'no agent has the labels that the plan wants (zone=asia); there are disk=fast, zone=eu | zone=eu | zone=us',
    });
    expect(await refused({ on: { zone: 'eu' }, slots: 3, connections: 3 })).toEqual({
      status: 422,
      code: 'notEnoughSlots',
      hint: 'ask for fewer slots, or start more agents',
      message: 'the plan wants 3 slots with zone=eu, the agents with them have 2',
    });
    const { body: audit } = await under.request<AuditEntry[]>('GET', `${ROUTES.audit}?limit=2`);
    expect(audit.map(({ action, result }) => `${action} ${result}`)).toEqual([
      'run.create notEnoughSlots',
      'run.create noSuchAgents',
    ]);
  });
});
