import { randomBytes } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { startCoordinator } from '@broadside/coordinator';
import {
  type AgentSummary,
  type ErrorBody,
  errorBodySchema,
  LIMITS,
  ROUTES,
  type RunSummary,
} from '@broadside/shared';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { CoordinatorUnderTest, plan } from './coordinator-under-test.js';
import { helloOf } from './simulated-agent.js';

let under: CoordinatorUnderTest;

beforeAll(async () => {
  under = await CoordinatorUnderTest.start();
});

afterAll(() => under.coordinator.close());

afterEach(() => under.dismissAgents());

describe('strangers at the agent socket', () => {
  const agentUrl = (): string => under.socketUrl(ROUTES.agentSocket);

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
        headers: { authorization: `Bearer ${under.coordinator.joinToken}` },
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
    const agent = await under.join({ agentId: 'a', slots: 1, holdAfterFirst });
    const runId = await under.post(plan);
    await agent.next((message) => message.kind === 'ack');
    const hello = JSON.stringify(helloOf('stranger', 1));
    expect((await say('not json')).code).toBe(1003);
    expect((await say(randomBytes(64))).code).toBe(1003);
    expect((await say(hello, randomBytes(4_096))).code).toBe(1003);
    expect((await say(hello, '{"kind":"nonsense"}')).code).toBe(1003);
    expect((await say(hello, Buffer.alloc(LIMITS.maxFrameBytes + 1))).code).toBe(1009);
    release();
    const { report } = await under.finished(runId);
    expect(report?.ledger.problems).toEqual([]);
    expect(report?.counters.completed).toBe(1_003);
  });
});

describe('the REST interface', () => {
  it('answers a body of 100 MB at once and goes on', async () => {
    const response = await fetch(under.coordinator.url + ROUTES.runs, {
      method: 'POST',
      body: Buffer.alloc(100_000_000, 0x20),
      headers: { 'content-type': 'application/json' },
    });
    expect(response.status).toBe(413);
    expect(errorBodySchema.parse(await response.json()).error.code).toBe('tooLarge');
    expect((await under.request('GET', ROUTES.healthz)).status).toBe(200);
  });

  it('names every problem of a plan with its path', async () => {
    const { status, body } = await under.request<ErrorBody>('POST', ROUTES.runs, {
      connections: 0,
      nonsense: 1,
    });
    expect(status).toBe(400);
    expect(body.error.problems?.map((problem) => problem.path).sort()).toEqual([
      'connections',
      'nonsense',
      'target',
    ]);
    // The message alone is enough for a person.
    for (const { path, message } of body.error.problems ?? [])
      expect(body.error.message.split(`${path}: ${message}`)).toHaveLength(2);
  });

  it('answers what it does not know in JSON', async () => {
    expect((await under.request<ErrorBody>('GET', '/nowhere')).body.error.code).toBe('notFound');
    expect((await under.request<ErrorBody>('GET', `${ROUTES.runs}/none`)).status).toBe(404);
    expect((await under.request<ErrorBody>('DELETE', `${ROUTES.runs}/none`)).status).toBe(404);
  });

  it('refuses a body that is not JSON', async () => {
    for (const [body, type] of [
      ['{"target":', 'application/json'],
      ['{}', 'text/plain'],
    ] as const) {
      const response = await fetch(under.coordinator.url + ROUTES.runs, {
        method: 'POST',
        body,
        headers: { 'content-type': type },
      });
      expect(response.status).toBe(400);
    }
  });

  it('is ready, and lists agents and runs', async () => {
    expect(await under.request('GET', ROUTES.readyz)).toEqual({
      status: 200,
      body: { store: true, queue: true, accepting: true },
    });
    await under.join({ agentId: 'a', slots: 2 });
    const { body } = await under.request<AgentSummary[]>('GET', ROUTES.agents);
    expect(body).toMatchObject([{ id: 'a', slots: 2, freeSlots: 2 }]);
    const { body: runs } = await under.request<RunSummary[]>('GET', ROUTES.runs);
    const created = runs.map((run) => run.createdAt);
    expect(created).toEqual([...created].sort().reverse());
  });

  it('describes itself, plans included', async () => {
    const { body } = await under.request<object>('GET', `${ROUTES.openApi}/json`);
    expect(body).toMatchObject({
      components: {
        schemas: { Plan: { properties: { target: {}, connections: {}, durationMs: {}, slots: {} } } },
      },
    });
    const page = await fetch(under.coordinator.url + ROUTES.openApi);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('swagger-ui')]);
  });

  it('reads no body of whoever asks for its description, who needs no token', async () => {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const asking = httpRequest(`${under.coordinator.url}${ROUTES.openApi}/nowhere`, {
        method: 'GET',
        headers: { 'content-type': 'application/json', 'content-length': 1 },
      });
      asking.once('error', reject);
      asking.once('response', (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      // No JSON: a parser would say so.
      asking.end('{');
    });
    expect(status).toBe(404);
  });
});

describe('watchers', () => {
  /** Status of the answer to an upgrade. */
  function knock(path: string, headers: Record<string, string> = {}): Promise<number | undefined> {
    return new Promise((resolve) => {
      const socket = new WebSocket(under.socketUrl(path), { headers });
      socket.on('error', () => undefined);
      socket.once('open', () => {
        resolve(101);
        socket.terminate();
      });
      socket.once('unexpected-response', (_request, response) => {
        resolve(response.statusCode);
        response.resume();
        socket.terminate();
      });
    });
  }

  it('name a run that exists', async () => {
    const runId = await under.post(plan);
    expect(await knock(`${ROUTES.live}?run=${runId}`)).toBe(101);
    expect(await knock(`${ROUTES.live}?run=none`)).toBe(404);
    expect(await knock(ROUTES.live)).toBe(400);
    expect(await knock('/elsewhere')).toBe(404);
    await under.request('DELETE', `${ROUTES.runs}/${runId}`);
  });

  it('are not let in by a page of another site', async () => {
    const runId = await under.post(plan);
    const path = `${ROUTES.live}?run=${runId}`;
    const { url } = under.coordinator;
    expect(await knock(path, { origin: 'http://evil.example' })).toBe(403);
    expect(await knock(path, { origin: 'http://evil.example', host: 'evil.example' })).toBe(401);
    expect(await knock(path, { origin: url })).toBe(101);
    await under.request('DELETE', `${ROUTES.runs}/${runId}`);
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
    await expect(startCoordinator({ host: '0.0.0.0' })).rejects.toThrow(/apiToken: is required/);
  });
});

describe('a coordinator that cannot start', () => {
  it('says why in one sentence without a secret, and leaves nothing behind', async () => {
    const password = 'hunter2-hunter2';
    for (const [options, reason] of [
      [{ databaseUrl: `postgres://user:${password}@127.0.0.1:1/db` }, /cannot use the database/],
      [{ dataDir: '/dev/null/store' }, /cannot keep the store/],
      [{ port: Number(new URL(under.coordinator.url).port) }, /cannot listen on .*: another program/],
    ] as const) {
      const failure = await startCoordinator({ logger: pino({ level: 'silent' }), ...options }).catch(
        (error: unknown) => error,
      );
      expect(failure).toMatchObject({ code: 'unavailable' });
      expect(String(failure)).toMatch(reason);
      expect(String(failure)).not.toContain(password);
    }
  });
});
