import { randomBytes } from 'node:crypto';
import { type Coordinator, startCoordinator } from '@broadside/coordinator';
import {
  type AgentSummary,
  type ErrorBody,
  errorBodySchema,
  isFinalState,
  type LiveMessage,
  liveMessageSchema,
  type PlanInput,
  ROUTES,
  type RunDetail,
  type RunSummary,
  runDetailSchema,
} from '@broadside/shared';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { helloOf, SimulatedAgent, type SimulatedAgentOptions } from './simulated-agent.js';

const plan: PlanInput = { target: 'http://127.0.0.1:9/', requests: 1_003, connections: 7, keepAlive: true };

let coordinator: Coordinator;
const agents: SimulatedAgent[] = [];

beforeAll(async () => {
  coordinator = await startCoordinator({ logger: pino({ level: 'silent' }) });
});

afterAll(() => coordinator.close());

afterEach(async () => {
  for (const agent of agents.splice(0)) await agent.leave();
  await until(async () => (await request<AgentSummary[]>('GET', ROUTES.agents)).body.length === 0);
});

async function join(options: SimulatedAgentOptions): Promise<SimulatedAgent> {
  const agent = await SimulatedAgent.join(coordinator, options);
  agents.push(agent);
  return agent;
}

async function request<T>(
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; body: T }> {
  const response = await fetch(coordinator.url + path, {
    method,
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  return { status: response.status, body: (await response.json()) as T };
}

async function post(given: PlanInput): Promise<string> {
  const { status, body } = await request<RunSummary>('POST', ROUTES.runs, given);
  expect(status, JSON.stringify(body)).toBe(201);
  return body.id;
}

function socketUrl(path: string): string {
  return `${coordinator.url.replace('http', 'ws')}${path}`;
}

/** Watches a run to its final state. */
function watch(runId: string): Promise<LiveMessage[]> {
  return new Promise((resolve, reject) => {
    const messages: LiveMessage[] = [];
    const socket = new WebSocket(socketUrl(`${ROUTES.live}?run=${runId}`));
    socket.on('message', (payload: Buffer) => {
      messages.push(liveMessageSchema.parse(JSON.parse(payload.toString('utf8'))));
    });
    socket.once('error', reject);
    socket.once('close', () => resolve(messages));
  });
}

async function finished(runId: string): Promise<RunDetail> {
  await watch(runId);
  const { body } = await request<unknown>('GET', `${ROUTES.runs}/${runId}`);
  const detail = runDetailSchema.parse(body);
  expect(isFinalState(detail.state)).toBe(true);
  return detail as RunDetail;
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) {
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    });
  }
}

describe('the life of a run', () => {
  it('ends in a report whose books balance, over all slots of all agents', async () => {
    const [a, b] = [await join({ agentId: 'a', slots: 2 }), await join({ agentId: 'b', slots: 3 })];
    const runId = await post(plan);
    const { state, report } = await finished(runId);
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
    await join({ agentId: 'a', slots: 1, holdAfterFirst });
    const runId = await post(plan);
    const watched = watch(runId);
    await until(
      async () => (await request<RunSummary>('GET', `${ROUTES.runs}/${runId}`)).body.state === 'running',
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
    await join({ agentId: 'a', slots: 2, sendsTwice: true });
    const { report } = await finished(await post(plan));
    expect(report?.counters.completed).toBe(1_003);
    expect(report?.ledger.problems).toEqual([]);
  });

  it('lets two runs of the same moment both finish', async () => {
    await join({ agentId: 'a', slots: 2 });
    await join({ agentId: 'b', slots: 2 });
    const ids = await Promise.all([post(plan), post(plan)]);
    const details = await Promise.all(ids.map(finished));
    expect(details.map((detail) => detail.state)).toEqual(['finished', 'finished']);
    expect(details.map((detail) => detail.report?.counters.completed)).toEqual([1_003, 1_003]);
  });

  it('waits for agents and says so', async () => {
    const runId = await post(plan);
    const waiting = await request<RunSummary>('GET', `${ROUTES.runs}/${runId}`);
    expect(waiting.body).toMatchObject({ state: 'queued', reason: 'waits for agents: none is connected' });
    await join({ agentId: 'late', slots: 1 });
    expect((await finished(runId)).state).toBe('finished');
  });

  it('sends the probe first and hands its length to all shards', async () => {
    const agent = await join({ agentId: 'a', slots: 2 });
    const { report } = await finished(await post({ ...plan, probe: true, checkLength: true }));
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
    await join({ agentId: 'a', slots: 2, probe: { ok: false, fatal } });
    const { state, reason, report } = await finished(
      await post({ ...plan, probe: true, onSocketError: 'stop' }),
    );
    expect({ state, reason }).toEqual({ state: 'failed', reason: fatal.message });
    expect(report?.fatal).toEqual(fatal);
    expect(report?.ledger.problems).toEqual([]);
    expect(report?.counters).toMatchObject({ planned: 1_003, sent: 0 });
  });

  it('fails when an agent cannot prepare its shard, with the reason of the agent', async () => {
    const fatal = { code: 'ENOTFOUND', message: 'nowhere.invalid: name not found' };
    await join({ agentId: 'a', slots: 1, refusesWith: fatal });
    await join({ agentId: 'b', slots: 1 });
    const { state, reason, report } = await finished(await post(plan));
    expect({ state, reason }).toEqual({ state: 'failed', reason: fatal.message });
    expect(report?.fatal).toEqual(fatal);
    expect(report?.ledger.problems).toEqual([]);
  });

  it('ends although a shard fails without a result, and says so', async () => {
    await join({ agentId: 'a', slots: 1, failsWith: 'the slot fell over' });
    await join({ agentId: 'b', slots: 1 });
    const { state, report } = await finished(await post(plan));
    expect(state).toBe('finished');
    expect(report?.verdict.outcome).toBe('inconclusive');
    expect(report?.ledger.problems.join('\n')).toContain('the slot fell over');
  });

  it('is refused when it wants more slots than there are', async () => {
    await join({ agentId: 'a', slots: 2 });
    const { status, body } = await request<ErrorBody>('POST', ROUTES.runs, { ...plan, slots: 3 });
    expect(status).toBe(422);
    expect(body.error.message).toBe('the plan wants 3 slots, the cluster has 2');
  });
});

describe('stopping a run', () => {
  it('reports what was done until then', async () => {
    const agent = await join({ agentId: 'a', slots: 2, holdAfterFirst: new Promise(() => undefined) });
    const runId = await post(plan);
    await agent.next((message) => message.kind === 'ack');
    const { status } = await request('DELETE', `${ROUTES.runs}/${runId}`);
    expect(status).toBe(202);
    const { state, report } = await finished(runId);
    expect(state).toBe('aborted');
    expect(report?.verdict.outcome).toBe('aborted');
    expect(report?.ledger.problems).toEqual([]);
    expect(report?.counters.completed).toBeGreaterThan(0);
    expect(report?.counters.completed).toBeLessThan(1_003);
    expect((await request('DELETE', `${ROUTES.runs}/${runId}`)).status).toBe(409);
  });

  it('takes a waiting run out of the line', async () => {
    const runId = await post(plan);
    const { status, body } = await request<RunSummary>('DELETE', `${ROUTES.runs}/${runId}`);
    expect([status, body.state]).toEqual([202, 'aborted']);
    expect((await finished(runId)).state).toBe('aborted');
  });
});

describe('an agent that is lost', () => {
  it('does not hang its run: the rest goes on, and the report names the agent', async () => {
    const hold = new Promise<void>(() => undefined);
    const [doomed] = [
      await join({ agentId: 'doomed', slots: 1, holdAfterFirst: hold }),
      await join({ agentId: 'other', slots: 1 }),
    ];
    const runId = await post(plan);
    await doomed.next((message) => message.kind === 'ack');
    doomed.cut();
    const { state, report } = await finished(runId);
    expect(state).toBe('finished');
    expect(report?.verdict.outcome).toBe('inconclusive');
    expect(report?.ledger.problems.join('\n')).toContain('agent simulated-doomed was lost');
    expect(report?.agents.map((agent) => [agent.agentId, agent.lost])).toEqual([
      ['doomed', true],
      ['other', false],
    ]);
  });

  it('is taken back without loss when it returns within the grace', async () => {
    let release: () => void = () => undefined;
    const holdAfterFirst = new Promise<void>((resolve) => {
      release = resolve;
    });
    const agent = await join({ agentId: 'a', slots: 1, holdAfterFirst });
    const runId = await post(plan);
    await agent.next((message) => message.kind === 'ack');
    agent.cut();
    await agent.connect([{ runId, shardIndex: 0, attempt: 1 }]);
    release();
    const { state, report } = await finished(runId);
    expect(state).toBe('finished');
    expect(report?.ledger.problems).toEqual([]);
    expect(report?.counters.completed).toBe(1_003);
  });
});

describe('strangers at the agent socket', () => {
  const agentUrl = (): string => socketUrl(ROUTES.agentSocket);

  it('are refused without the join token', async () => {
    for (const token of [undefined, 'wrong']) {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const answer = await new Promise<{ status: number | undefined; challenge: string | undefined }>(
        (resolve) => {
          const socket = new WebSocket(agentUrl(), { headers });
          socket.on('error', () => undefined);
          socket.once('unexpected-response', (_request, response) => {
            resolve({ status: response.statusCode, challenge: response.headers['www-authenticate'] });
            response.resume();
            socket.terminate();
          });
        },
      );
      expect(answer).toEqual({ status: 401, challenge: 'Bearer' });
    }
  });

  /** Opens a socket with the right token, says something, and waits for its end. */
  function say(...payloads: (string | Buffer)[]): Promise<{ code: number; texts: string[] }> {
    return new Promise((resolve) => {
      const texts: string[] = [];
      const socket = new WebSocket(agentUrl(), {
        headers: { authorization: `Bearer ${coordinator.joinToken}` },
      });
      socket.on('error', () => undefined);
      socket.on('message', (payload: Buffer) => texts.push(payload.toString('utf8')));
      socket.once('close', (code: number) => resolve({ code, texts }));
      socket.once('open', () => {
        for (const payload of payloads) socket.send(payload);
      });
    });
  }

  it('are told which side to update when the protocols differ', async () => {
    const { code, texts } = await say(JSON.stringify({ ...helloOf('old', 1), protocol: 0 }));
    expect(code).toBe(1008);
    expect(texts[0]).toContain('update the agent');
  });

  it('are closed for garbage, and other runs are unharmed', async () => {
    let release: () => void = () => undefined;
    const holdAfterFirst = new Promise<void>((resolve) => {
      release = resolve;
    });
    const agent = await join({ agentId: 'a', slots: 1, holdAfterFirst });
    const runId = await post(plan);
    await agent.next((message) => message.kind === 'ack');
    const hello = JSON.stringify(helloOf('stranger', 1));
    expect((await say('not json')).code).toBe(1003);
    expect((await say(randomBytes(64))).code).toBe(1003);
    expect((await say(hello, randomBytes(4_096))).code).toBe(1003);
    expect((await say(hello, '{"kind":"nonsense"}')).code).toBe(1003);
    expect((await say(hello, Buffer.alloc(2_000_000))).code).toBe(1009);
    release();
    const { report } = await finished(runId);
    expect(report?.ledger.problems).toEqual([]);
    expect(report?.counters.completed).toBe(1_003);
  });
});

describe('the REST interface', () => {
  it('answers a body of 100 MB at once and goes on', async () => {
    const response = await fetch(coordinator.url + ROUTES.runs, {
      method: 'POST',
      body: Buffer.alloc(100_000_000, 0x20),
      headers: { 'content-type': 'application/json' },
    });
    expect(response.status).toBe(413);
    expect(errorBodySchema.parse(await response.json()).error.code).toBe('tooLarge');
    expect((await request('GET', ROUTES.healthz)).status).toBe(200);
  });

  it('names every problem of a plan with its path', async () => {
    const { status, body } = await request<ErrorBody>('POST', ROUTES.runs, { connections: 0, nonsense: 1 });
    expect(status).toBe(400);
    expect(body.error.problems?.map((problem) => problem.path).sort()).toEqual([
      'connections',
      'nonsense',
      'target',
    ]);
  });

  it('answers what it does not know in JSON', async () => {
    expect((await request<ErrorBody>('GET', '/nowhere')).body.error.code).toBe('notFound');
    expect((await request<ErrorBody>('GET', `${ROUTES.runs}/none`)).status).toBe(404);
    expect((await request<ErrorBody>('DELETE', `${ROUTES.runs}/none`)).status).toBe(404);
  });

  it('refuses a body that is not JSON', async () => {
    for (const [body, type] of [
      ['{"target":', 'application/json'],
      ['{}', 'text/plain'],
    ] as const) {
      const response = await fetch(coordinator.url + ROUTES.runs, {
        method: 'POST',
        body,
        headers: { 'content-type': type },
      });
      expect(response.status).toBe(400);
    }
  });

  it('is ready, and lists agents and runs', async () => {
    expect(await request('GET', ROUTES.readyz)).toEqual({
      status: 200,
      body: { store: true, queue: true, accepting: true },
    });
    await join({ agentId: 'a', slots: 2 });
    const { body } = await request<AgentSummary[]>('GET', ROUTES.agents);
    expect(body).toMatchObject([{ id: 'a', slots: 2, freeSlots: 2 }]);
    const { body: runs } = await request<RunSummary[]>('GET', ROUTES.runs);
    const created = runs.map((run) => run.createdAt);
    expect(created).toEqual([...created].sort().reverse());
  });

  it('describes itself, plans included', async () => {
    const { body } = await request<object>('GET', `${ROUTES.openApi}/json`);
    expect(body).toMatchObject({
      components: {
        schemas: { Plan: { properties: { target: {}, connections: {}, durationMs: {}, slots: {} } } },
      },
    });
    const page = await fetch(coordinator.url + ROUTES.openApi);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('swagger-ui')]);
  });
});

describe('a coordinator with an API token', () => {
  it('shows nothing without it', async () => {
    const apiToken = 'a-token-for-the-api';
    const guarded = await startCoordinator({ apiToken, logger: pino({ level: 'silent' }) });
    try {
      const get = async (path: string, headers = {}): Promise<number> =>
        (await fetch(guarded.url + path, { headers })).status;
      expect(await get(ROUTES.runs)).toBe(401);
      expect(await get(ROUTES.runs, { authorization: 'Bearer wrong' })).toBe(401);
      expect(await get(ROUTES.runs, { authorization: `Bearer ${apiToken}` })).toBe(200);
      expect(await get(ROUTES.runs.toUpperCase())).toBe(401);
      expect(await get(ROUTES.healthz)).toBe(200);
    } finally {
      await guarded.close();
    }
  });

  it('does not listen beyond loopback without tokens', async () => {
    await expect(startCoordinator({ host: '0.0.0.0' })).rejects.toThrow(/joinToken.*apiToken/);
  });
});
