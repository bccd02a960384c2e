import { type AgentSummary, type ErrorBody, ROUTES, type RunSummary } from '@broadside/shared';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CoordinatorUnderTest, plan, until } from './coordinator-under-test.js';

let under: CoordinatorUnderTest;

beforeAll(async () => {
  under = await CoordinatorUnderTest.start();
});

afterAll(() => under.coordinator.close());

afterEach(() => under.dismissAgents());

describe('the life of a run', () => {
  it('ends in a report whose books balance, over all slots of all agents', async () => {
    const [a, b] = [
      await under.join({ agentId: 'a', slots: 2 }),
      await under.join({ agentId: 'b', slots: 3 }),
    ];
    const runId = await under.post(plan);
    const { state, report } = await under.finished(runId);
    expect(state).toBe('finished');
    expect(report?.ledger).toEqual({ balanced: true, problems: [] });
    expect(report?.verdict.outcome).toBe('pass');
    expect(report?.counters).toMatchObject({ planned: 1_003, completed: 1_003, connectionsOpened: 7 });
    expect(report?.latency.total.count).toBe(1_003);
    expect(report?.shards).toHaveLength(5);
    expect(report?.agents.map((agent) => [agent.agentId, agent.shards])).toEqual([
      ['a', 2],
      ['b', 3],
    ]);
    expect(report?.seconds.map((second) => second.completed).reduce((x, y) => x + y, 0)).toBe(1_003);
    expect(a.shards.length + b.shards.length).toBe(5);
    for (const agent of [a, b])
      expect([...agent.acknowledged.values()].every((number) => number === 2)).toBe(true);
  });

  it('shows its states and seconds to whoever watches', async () => {
    let release: () => void = () => undefined;
    const holdAfterFirst = new Promise<void>((resolve) => {
      release = resolve;
    });
    await under.join({ agentId: 'a', slots: 1, holdAfterFirst });
    const runId = await under.post(plan);
    const watched = under.watch(runId);
    await until(
      async () =>
        (await under.request<RunSummary>('GET', `${ROUTES.runs}/${runId}`)).body.state === 'running',
    );
    release();
    const messages = await watched;
    expect(messages[0]?.kind).toBe('state');
    const states = messages.flatMap((message) => (message.kind === 'state' ? [message.state] : []));
    expect(states.slice(-2)).toEqual(['closing', 'finished']);
    const seconds = messages.flatMap((message) => (message.kind === 'second' ? [message] : []));
    expect(seconds.at(-1)?.total.completed).toBe(1_003);
  });

  it('counts a frame that comes twice once', async () => {
    await under.join({ agentId: 'a', slots: 2, sendsTwice: true });
    const { report } = await under.finished(await under.post(plan));
    expect(report?.counters.completed).toBe(1_003);
    expect(report?.ledger.problems).toEqual([]);
  });

  it('lets two runs of the same moment both finish', async () => {
    await under.join({ agentId: 'a', slots: 2 });
    await under.join({ agentId: 'b', slots: 2 });
    const ids = await Promise.all([under.post(plan), under.post(plan)]);
    const details = await Promise.all(ids.map((id) => under.finished(id)));
    expect(details.map((detail) => detail.state)).toEqual(['finished', 'finished']);
    expect(details.map((detail) => detail.report?.counters.completed)).toEqual([1_003, 1_003]);
  });

  it('waits for agents and says so', async () => {
    const runId = await under.post(plan);
    const waiting = await under.request<RunSummary>('GET', `${ROUTES.runs}/${runId}`);
    expect(waiting.body).toMatchObject({ state: 'queued', reason: 'waits for agents: none is connected' });
    await under.join({ agentId: 'late', slots: 1 });
    expect((await under.finished(runId)).state).toBe('finished');
  });

  it('sends the probe first and hands its length to all shards', async () => {
    const agent = await under.join({ agentId: 'a', slots: 2 });
    const { report } = await under.finished(await under.post({ ...plan, probe: true, checkLength: true }));
    expect(report?.referenceBytes).toBe(100);
    const kinds = agent.received
      .map((message) => message.kind)
      .filter((kind) => kind === 'probe' || kind === 'start');
    expect(kinds).toEqual(['probe', 'start', 'start']);
    const starts = agent.received.flatMap((message) => (message.kind === 'start' ? [message] : []));
    expect(starts.map((start) => start.referenceBytes)).toEqual([100, 100]);
    expect(starts[0]?.startAtUs).toBe(starts[1]?.startAtUs);
  });

  it('fails with the error of the probe, and the books balance', async () => {
    const fatal = { code: 'ECONNREFUSED', errno: 111, message: 'connect: Connection refused' };
    await under.join({ agentId: 'a', slots: 2, probe: { ok: false, fatal } });
    const { state, reason, report } = await under.finished(
      await under.post({ ...plan, probe: true, onSocketError: 'stop' }),
    );
    expect({ state, reason }).toEqual({ state: 'failed', reason: fatal.message });
    expect(report?.fatal).toEqual(fatal);
    expect(report?.ledger.problems).toEqual([]);
    expect(report?.counters).toMatchObject({ planned: 1_003, sent: 0 });
  });

  it('fails when an agent cannot prepare its shard, with the reason of the agent', async () => {
    const fatal = { code: 'ENOTFOUND', message: 'nowhere.invalid: name not found' };
    await under.join({ agentId: 'a', slots: 1, refusesWith: fatal });
    await under.join({ agentId: 'b', slots: 1 });
    const { state, reason, report } = await under.finished(await under.post(plan));
    expect({ state, reason }).toEqual({ state: 'failed', reason: `agent simulated-a: ${fatal.message}` });
    expect(report?.fatal).toEqual(fatal);
    expect(report?.ledger.problems).toEqual([]);
  });

  it('ends although a shard fails without a result, and says so', async () => {
    await under.join({ agentId: 'a', slots: 1, failsWith: 'the slot fell over' });
    await under.join({ agentId: 'b', slots: 1 });
    const { state, report } = await under.finished(await under.post(plan));
    expect(state).toBe('finished');
    expect(report?.verdict.outcome).toBe('inconclusive');
    expect(report?.ledger.problems.join('\n')).toContain('the slot fell over');
  });

  it('is refused when it wants more slots than there are', async () => {
    await under.join({ agentId: 'a', slots: 2 });
    const { status, body } = await under.request<ErrorBody>('POST', ROUTES.runs, { ...plan, slots: 3 });
    expect(status).toBe(422);
    expect(body.error.message).toBe('the plan wants 3 slots, the cluster has 2');
  });
});

describe('stopping a run', () => {
  it('reports what was done until then', async () => {
    const agent = await under.join({ agentId: 'a', slots: 2, holdAfterFirst: new Promise(() => undefined) });
    const runId = await under.post(plan);
    await agent.next((message) => message.kind === 'ack');
    const { status } = await under.request('DELETE', `${ROUTES.runs}/${runId}`);
    expect(status).toBe(202);
    const { state, report } = await under.finished(runId);
    expect(state).toBe('aborted');
    expect(report?.verdict.outcome).toBe('aborted');
    expect(report?.ledger.problems).toEqual([]);
    expect(report?.counters.completed).toBeGreaterThan(0);
    expect(report?.counters.completed).toBeLessThan(1_003);
    expect((await under.request('DELETE', `${ROUTES.runs}/${runId}`)).status).toBe(409);
  });

  it('takes a waiting run out of the line', async () => {
    const runId = await under.post(plan);
    const { status, body } = await under.request<RunSummary>('DELETE', `${ROUTES.runs}/${runId}`);
    expect([status, body.state]).toEqual([202, 'aborted']);
    expect((await under.finished(runId)).state).toBe('aborted');
  });
});

describe('an agent that leaves', () => {
  it('gives what it did not send back, and another slot sends it', async () => {
    const hold = new Promise<void>(() => undefined);
    const leaving = await under.join({ agentId: 'leaving', slots: 1, holdAfterFirst: hold });
    await under.join({ agentId: 'other', slots: 1 });
    const runId = await under.post(plan);
    await leaving.next((message) => message.kind === 'ack');
    leaving.drain();
    const { state, report } = await under.finished(runId);
    expect(state).toBe('finished');
    expect(report?.ledger.problems).toEqual([]);
    expect(report?.verdict.outcome).toBe('pass');
    expect(report?.counters).toMatchObject({
      planned: 1_003,
      sent: 1_003,
      completed: 1_003,
      notSentStopped: 0,
    });
    const [loss] = report?.losses ?? [];
    expect(loss).toMatchObject({
      cause: 'left',
      agentName: 'simulated-leaving',
      rest: 'taken',
      lostRequests: 0,
    });
    expect(loss?.takenBy).toMatchObject({ attempt: 2, agentName: 'simulated-other' });
    expect(report?.shards).toHaveLength(3);
  });

  it('loses nothing when it is lost after its totals have come: they count for what was on its way', async () => {
    const agent = await under.join({ agentId: 'a', slots: 1, drops: [1, 2] });
    const runId = await under.post(plan);
    // Nothing is missing of its load, so the coordinator waits for its last intervals only.
    await until(
      async () =>
        (await under.request<RunSummary>('GET', `${ROUTES.runs}/${runId}`)).body.state === 'closing',
    );
    agent.cut();
    const { state, report } = await under.finished(runId);
    expect(state).toBe('finished');
    expect(report?.ledger.problems).toEqual([]);
    expect(report?.losses).toBeUndefined();
    expect(report?.verdict.outcome).toBe('pass');
    expect(report?.counters).toMatchObject({ planned: 1_003, sent: 1_003, completed: 1_003 });
    expect(report?.latency.total.count).toBe(1_003);
    expect(report?.agents.map(({ lost }) => lost)).toEqual([true]);
    expect(agent.shards).toHaveLength(1);
  });

  it('fails a run that has not begun when it is lost', async () => {
    const [lost] = [
      await under.join({ agentId: 'lost', slots: 1, neverReady: true }),
      await under.join({ agentId: 'other', slots: 1 }),
    ];
    const runId = await under.post(plan);
    await until(() => Promise.resolve(lost.shards.length === 1));
    lost.cut();
    const { state, reason } = await under.finished(runId);
    expect([state, reason]).toEqual(['failed', 'agent simulated-lost was lost before the start']);
  });
});

describe('an agent that is lost', () => {
  it('has what was left of its load sent by another slot, and the books balance', async () => {
    const hold = new Promise<void>(() => undefined);
    const [doomed] = [
      await under.join({ agentId: 'doomed', slots: 1, holdAfterFirst: hold, inFlightAfterFirst: 3 }),
      await under.join({ agentId: 'other', slots: 2 }),
    ];
    const runId = await under.post({ ...plan, slots: 2 });
    await doomed.next((message) => message.kind === 'ack');
    doomed.cut();
    const { state, report } = await under.finished(runId);
    expect(state).toBe('finished');
    expect(report?.ledger.problems).toEqual([]);
    expect(report?.verdict.outcome).toBe('pass');
    expect(report?.lostWithAgent).toBe(3);
    expect(report?.counters).toMatchObject({ planned: 1_003, sent: 1_003, completed: 1_000 });
    expect(report?.verdict.reasons[0]).toMatch(/^agent simulated-doomed was lost with shard 0 .*3 requests/);
    expect(report?.agents.map((agent) => [agent.agentId, agent.lost])).toEqual([
      ['doomed', true],
      ['other', false],
    ]);
  });

  it('is left out where the plan wants that, and ends the run where it wants that', async () => {
    const hold = new Promise<void>(() => undefined);
    for (const onAgentLoss of ['continue', 'abort'] as const) {
      const [doomed] = [
        await under.join({ agentId: `doomed-${onAgentLoss}`, slots: 1, holdAfterFirst: hold }),
        await under.join({ agentId: `other-${onAgentLoss}`, slots: 2 }),
      ];
      const runId = await under.post({ ...plan, slots: 2, onAgentLoss });
      await doomed.next((message) => message.kind === 'ack');
      doomed.cut();
      const { state, report } = await under.finished(runId);
      expect(report?.ledger.problems).toEqual([]);
      expect(report?.counters.planned).toBe(1_003);
      expect(report?.notSentWithAgent).toBe(1_003 - (report?.counters.completed ?? 0));
      expect([state, report?.verdict.outcome]).toEqual(
        onAgentLoss === 'continue' ? ['finished', 'pass'] : ['aborted', 'aborted'],
      );
      await under.dismissAgents();
    }
  });

  it('leaves the result open when no slot is free for what was left', async () => {
    const hold = new Promise<void>(() => undefined);
    const [doomed] = [
      await under.join({ agentId: 'doomed', slots: 1, holdAfterFirst: hold }),
      await under.join({ agentId: 'other', slots: 1, intervals: 40, pauseMs: 100 }),
    ];
    const runId = await under.post({ ...plan, requests: undefined, duration: '3s' });
    await doomed.next((message) => message.kind === 'ack');
    doomed.cut();
    const { report } = await under.finished(runId);
    expect(report?.ledger.problems).toEqual([]);
    expect(report?.verdict.outcome).toBe('inconclusive');
    expect(report?.verdict.reasons[0]).toBe(
      'the rest of shard 0 was not sent after agent simulated-doomed had gone',
    );
  });

  it('stops what it still does when it is back, and what it sent meanwhile is stated', async () => {
    const hold = new Promise<void>(() => undefined);
    const [cut] = [
      await under.join({ agentId: 'cut', slots: 1, holdAfterFirst: hold }),
      await under.join({ agentId: 'other', slots: 2, intervals: 20, pauseMs: 200 }),
    ];
    const runId = await under.post({ ...plan, slots: 2 });
    await cut.next((message) => message.kind === 'ack');
    cut.cut();
    await until(async () =>
      (await under.request<AgentSummary[]>('GET', ROUTES.agents)).body.every((agent) => agent.id !== 'cut'),
    );
    const attempt = { runId, shardIndex: 0, attempt: 1 };
    await cut.connect([attempt]);
    await cut.next((message) => message.kind === 'fenced');
    const known = cut.sentOf(attempt);
    cut.send({ kind: 'abandoned', shard: attempt, sent: known + 17 });
    const { report } = await under.finished(runId);
    expect(report?.losses?.[0]).toMatchObject({ unaccounted: 17 });
    expect(report?.verdict.reasons[0]).toContain('it sent 17 more that are counted nowhere');
    expect(report?.ledger.problems).toEqual([]);
  });

  it('is taken back without loss when it returns within the grace', async () => {
    let release: () => void = () => undefined;
    const holdAfterFirst = new Promise<void>((resolve) => {
      release = resolve;
    });
    const agent = await under.join({ agentId: 'a', slots: 1, holdAfterFirst });
    const runId = await under.post(plan);
    await agent.next((message) => message.kind === 'ack');
    agent.cut();
    await agent.connect([{ runId, shardIndex: 0, attempt: 1 }]);
    release();
    const { state, report } = await under.finished(runId);
    expect(state).toBe('finished');
    expect(report?.ledger.problems).toEqual([]);
    expect(report?.counters.completed).toBe(1_003);
  });
});

describe('a coordinator that is told to leave', () => {
  it('ends its runs, keeps their reports, and says good-bye to its agents', async () => {
    const leaving = await CoordinatorUnderTest.start();
    const hold = new Promise<void>(() => undefined);
    const agent = await leaving.join({ agentId: 'a', slots: 1, holdAfterFirst: hold });
    const runId = await leaving.post(plan);
    const watched = leaving.watch(runId);
    await agent.next((message) => message.kind === 'ack');
    const closed = agent.closed();
    await leaving.coordinator.close();
    expect(await closed).toBe(1001);
    expect((await watched).at(-1)).toMatchObject({ state: 'aborted', reason: 'the coordinator is stopping' });
    await agent.leave();
  });
});

describe('a store that was told how many runs to keep', () => {
  it('forgets the older ones, with their reports, when a run has ended', async () => {
    const keeping = await CoordinatorUnderTest.start({ keepRuns: 1 });
    try {
      await keeping.join({ agentId: 'a', slots: 1 });
      const first = await keeping.post(plan);
      await keeping.finished(first);
      const second = await keeping.post(plan);
      await keeping.finished(second);
      await until(async () => (await keeping.request('GET', `${ROUTES.runs}/${first}`)).status === 404);
      expect((await keeping.finished(second)).report?.counters.completed).toBe(1_003);
    } finally {
      await keeping.dismissAgents();
      await keeping.coordinator.close();
    }
  });
});
