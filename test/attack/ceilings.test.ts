// More load than the cluster may carry: refused where it never could run, held back where it could run later.

import { type ErrorBody, ROUTES, type RunDetail, type RunSummary } from '@broadside/shared';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CoordinatorUnderTest, plan, until } from '../coordinator/coordinator-under-test.js';

describe('a coordinator with ceilings', () => {
  let under: CoordinatorUnderTest;
  beforeAll(async () => {
    under = await CoordinatorUnderTest.start({
      maxRunRate: 600,
      maxRate: 1_000,
      maxRunConnections: 50,
      maxConnections: 60,
    });
  });
  afterAll(() => under.coordinator.close());
  afterEach(() => under.dismissAgents());

  it.each([
    ['a rate', { rate: 601 }, '601 requests/s, a run here may send 600 at most'],
    ['stages', { stages: [{ duration: '1s', rate: 700 }] }, '700 requests/s, a run here may send 600'],
    ['no rate', {}, 'a run without a rate has no bound'],
    ['connections', { rate: 5, connections: 51 }, '51 connections, a run here may have 50 at most'],
  ])('refuses %s above them in one line, and stores nothing', async (_title, fields, reason) => {
    const asked = { target: 'http://127.0.0.1:9/', ...fields };
    const { status, body } = await under.request<ErrorBody>('POST', ROUTES.runs, asked);
    expect(status).toBe(403);
    expect(body.error.code).toBe('notAllowed');
    expect(body.error.message).toContain(reason);
    expect((await under.request<RunSummary[]>('GET', ROUTES.runs)).body).toEqual([]);
  });

  it('lets runs begin as long as all together stay below them, in order, and the next when one has ended', async () => {
    let release: () => void = () => undefined;
    const holdAfterFirst = new Promise<void>((resolve) => {
      release = resolve;
    });
    await under.join({ agentId: 'held', slots: 8, holdAfterFirst });
    const paced = { ...plan, slots: 1, connections: 2 };
    const first = await under.post({ ...paced, rate: 600 });
    const second = await under.post({ ...paced, rate: 500 });
    const third = await under.post({ ...paced, rate: 10 });
    const reasonOf = async (runId: string): Promise<string | undefined> =>
      (await under.request<RunDetail>('GET', `${ROUTES.runs}/${runId}`)).body.reason;
    await until(
      async () => (await reasonOf(second)) === 'waits for the ceiling: 600 of 1000 requests/s are in use',
    );
    expect(await reasonOf(third)).toContain('waits for');
    release();
    for (const runId of [first, second, third]) expect((await under.finished(runId)).state).toBe('finished');
  });
});
