// Who gets in with which token, over real sockets; and what becomes of those who are in when their token ends.

import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCoordinator } from '@broadside/coordinator';
import {
  errorBodySchema,
  LIVE_PROTOCOL,
  ROUTES,
  runSummarySchema,
  type TokenRole,
  ticketSchema,
  tokenTextOf,
} from '@broadside/shared';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStore } from '../../apps/coordinator/dist/storage/store.js';
import { CoordinatorUnderTest, plan } from '../coordinator/coordinator-under-test.js';
import { helloOf } from '../coordinator/simulated-agent.js';
import { ask, bearer, closeOf, createToken, type Headers, knock, sentenceOf } from './door.js';

const ADMIN_TOKEN = 'the-admin-token-of-this-test';
const admin = bearer(ADMIN_TOKEN);
const NO_RUN = `${ROUTES.runs}/none`;

let under: CoordinatorUnderTest;
let url = '';
const held = new Map<TokenRole, Headers>();

beforeAll(async () => {
  under = await CoordinatorUnderTest.start({ apiToken: ADMIN_TOKEN, maxFailedLogins: 1_000 });
  ({ url } = under.coordinator);
  for (const role of ['viewer', 'operator', 'admin', 'agent'] as const) {
    held.set(role, bearer((await createToken(url, admin, role)).token));
  }
});

afterAll(() => under.coordinator.close());

function holder(role: TokenRole): Headers {
  const headers = held.get(role);
  if (headers === undefined) throw new Error(`no token for ${role}`);
  return headers;
}

describe('a door', () => {
  /** Every way in, with a body where one is wanted, and what it says to whoever may use it. */
  const doors = [
    { method: 'GET', path: ROUTES.runs, needs: 'viewer', status: 200 },
    { method: 'GET', path: NO_RUN, needs: 'viewer', status: 404 },
    { method: 'GET', path: ROUTES.agents, needs: 'viewer', status: 200 },
    { method: 'POST', path: ROUTES.tickets, needs: 'viewer', status: 201 },
    { method: 'POST', path: ROUTES.runs, needs: 'operator', status: 400 },
    { method: 'DELETE', path: NO_RUN, needs: 'operator', status: 404 },
    { method: 'GET', path: ROUTES.tokens, needs: 'admin', status: 200 },
    { method: 'POST', path: ROUTES.tokens, needs: 'admin', status: 400 },
    { method: 'DELETE', path: `${ROUTES.tokens}/none`, needs: 'admin', status: 404 },
    { method: 'GET', path: ROUTES.audit, needs: 'admin', status: 200 },
  ] as const;
  const rank = ['viewer', 'operator', 'admin'];

  it.each(doors)('$method $path is open to $needs and above, and to nobody else', async (door) => {
    const body = door.method === 'POST' ? { nonsense: true } : undefined;
    const statusFor = async (headers: Headers): Promise<number> =>
      (await ask(url + door.path, door.method, headers, body)).status;
    const strangers = [
      {},
      bearer('wrong'),
      bearer(tokenTextOf('user', new Uint8Array(32))),
      { authorization: ADMIN_TOKEN },
      holder('agent'),
      bearer(under.coordinator.joinToken),
    ];
    expect(await Promise.all(strangers.map(statusFor))).toEqual(strangers.map(() => 401));
    for (const role of ['viewer', 'operator', 'admin'] as const) {
      const isEnough = rank.indexOf(role) >= rank.indexOf(door.needs);
      expect(await statusFor(holder(role)), role).toBe(isEnough ? door.status : 403);
    }
  });

  it('that does not exist tells nothing to strangers', async () => {
    expect((await ask(`${url}/api/nothing`, 'GET')).status).toBe(401);
    expect((await ask(`${url}/api/nothing`, 'GET', holder('viewer'))).status).toBe(404);
    expect((await ask(url + ROUTES.runs, 'OPTIONS')).status).toBe(401);
    expect((await ask(url + ROUTES.runs, 'PUT', {}, {})).headers.get('allow')).toBeNull();
    expect((await ask(url + ROUTES.runs.toUpperCase(), 'GET')).status).toBe(401);
  });

  it('says to whoever may look what it can be asked for, and to no page of another site', async () => {
    const viewer = holder('viewer');
    const refused = await ask(url + ROUTES.runs, 'PUT', viewer, {});
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST, OPTIONS']);
    expect(errorBodySchema.parse(JSON.parse(refused.text)).error).toEqual({
      code: 'methodNotAllowed',
      message: 'PUT is not for this address; it takes GET, HEAD, POST, OPTIONS',
    });
    // Whether there is such a run makes no difference.
    expect((await ask(url + NO_RUN, 'PATCH', viewer)).headers.get('allow')).toBe(
      'GET, HEAD, DELETE, OPTIONS',
    );
    const head = await ask(url + ROUTES.tickets, 'HEAD', viewer);
    expect([head.status, head.headers.get('allow'), head.text]).toEqual([405, 'POST, OPTIONS', '']);
    const options = await ask(url + ROUTES.runs, 'OPTIONS', viewer);
    expect([options.status, options.headers.get('allow'), options.text]).toEqual([
      204,
      'GET, HEAD, POST, OPTIONS',
      '',
    ]);
    expect((await ask(`${url}/api/nothing`, 'OPTIONS', viewer)).status).toBe(404);
    expect((await ask(url + ROUTES.healthz, 'DELETE')).status).toBe(405);
    const foreign = await ask(url + ROUTES.runs, 'OPTIONS', { ...viewer, origin: 'http://evil.example' });
    expect([foreign.status, foreign.headers.get('allow')]).toEqual([403, null]);
  });

  it('for agents is closed to people, and to everybody without a token', async () => {
    const agentUrl = url + ROUTES.agentSocket;
    for (const headers of [
      {},
      bearer('wrong'),
      admin,
      holder('viewer'),
      holder('operator'),
      holder('admin'),
    ]) {
      expect((await knock(agentUrl, headers)).status).toBe(401);
    }
    for (const headers of [holder('agent'), bearer(under.coordinator.joinToken)]) {
      const { status, socket } = await knock(agentUrl, headers);
      expect(status).toBe(101);
      socket.terminate();
    }
  });

  it('answers with headers that keep browsers in bounds', async () => {
    const { headers } = await ask(url + ROUTES.runs, 'GET', holder('viewer'));
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-powered-by')).toBeNull();
  });
});

describe('a token that ends', () => {
  it('takes the watchers with it that came with it, and nobody else', async () => {
    const runId = await postRun();
    const live = `${url}${ROUTES.live}?run=${runId}`;
    const { token, id } = await createToken(url, admin, 'viewer');
    const { socket } = await knock(live, bearer(token));
    const other = await knock(live, holder('viewer'));
    const closed = closeOf(socket);
    expect((await ask(`${url}${ROUTES.tokens}/${id}`, 'DELETE', admin)).status).toBe(200);
    expect(await closed).toEqual({ code: 1008, reason: 'its token was revoked' });
    expect(sentenceOf(await ask(url + ROUTES.runs, 'GET', bearer(token)))).toBe('the token was revoked');
    expect((await knock(live, bearer(token))).status).toBe(401);
    expect(other.socket.readyState).toBe(other.socket.OPEN);
    other.socket.terminate();
    await ask(`${url}${ROUTES.runs}/${runId}`, 'DELETE', admin);
  });

  it('takes its agents with it', async () => {
    const { token, id } = await createToken(url, admin, 'agent');
    const { socket } = await knock(url + ROUTES.agentSocket, bearer(token));
    const welcomed = new Promise((resolve) => socket.once('message', resolve));
    socket.send(JSON.stringify(helloOf('revoked', 1)));
    await welcomed;
    const closed = closeOf(socket);
    await ask(`${url}${ROUTES.tokens}/${id}`, 'DELETE', admin);
    expect(await closed).toEqual({ code: 1008, reason: 'its token was revoked' });
    expect((await knock(url + ROUTES.agentSocket, bearer(token))).status).toBe(401);
  });

  it('cannot be the last one of an admin, nor one that was given at the start', async () => {
    const given = await ask(`${url}${ROUTES.tokens}/given-admin`, 'DELETE', admin);
    expect([given.status, sentenceOf(given)]).toEqual([409, expect.stringContaining('at its start')]);
  });
});

describe('a ticket', () => {
  it('opens one live stream for a browser, once, and no other door', async () => {
    const runId = await postRun();
    const live = `${url}${ROUTES.live}?run=${runId}`;
    const { text } = await ask(url + ROUTES.tickets, 'POST', holder('viewer'));
    const { protocol } = ticketSchema.parse(JSON.parse(text));
    const offered = [LIVE_PROTOCOL, protocol];
    expect((await knock(live, { origin: 'http://evil.example' }, offered)).status).toBe(403);
    expect((await knock(url + ROUTES.agentSocket, {}, offered)).status).toBe(401);
    const { status, socket, protocol: chosen } = await knock(live, { origin: url }, offered);
    expect([status, chosen]).toEqual([101, LIVE_PROTOCOL]);
    socket.terminate();
    expect((await knock(live, { origin: url }, offered)).status).toBe(401);
    expect((await ask(url + ROUTES.runs, 'GET', bearer(protocol))).status).toBe(401);
    await ask(`${url}${ROUTES.runs}/${runId}`, 'DELETE', admin);
  });
});

describe('a page of another site', () => {
  it('changes nothing, even with a token', async () => {
    const foreign = { ...holder('admin'), origin: 'http://evil.example' };
    expect((await ask(url + ROUTES.runs, 'POST', foreign, plan)).status).toBe(403);
    expect((await ask(`${url}${ROUTES.tokens}/given-admin`, 'DELETE', foreign)).status).toBe(403);
    expect((await ask(url + ROUTES.runs, 'POST', { ...foreign, origin: 'null' }, plan)).status).toBe(403);
  });
});

describe('a coordinator on loopback without tokens', () => {
  it('needs none until the first one is made, which must be an admin', async () => {
    const open = await CoordinatorUnderTest.start();
    try {
      const at = open.coordinator.url;
      const first = await ask(at + ROUTES.tokens, 'POST', {}, { role: 'viewer', name: 'x' });
      expect([first.status, sentenceOf(first)]).toEqual([
        409,
        expect.stringContaining('must have the role admin'),
      ]);
      const runId = await open.post(plan);
      const { socket } = await knock(`${at}${ROUTES.live}?run=${runId}`);
      const closed = closeOf(socket);
      await createToken(at, {}, 'agent');
      expect((await ask(at + ROUTES.runs, 'GET')).status).toBe(200);
      const { token, id } = await createToken(at, {}, 'admin');
      expect(await closed).toEqual({ code: 1008, reason: 'from now on a token is needed' });
      expect((await ask(at + ROUTES.runs, 'GET')).status).toBe(401);
      expect((await ask(at + ROUTES.runs, 'GET', bearer(token))).status).toBe(200);
      const last = await ask(`${at}${ROUTES.tokens}/${id}`, 'DELETE', bearer(token));
      expect([last.status, sentenceOf(last)]).toEqual([409, expect.stringContaining('the last one')]);
    } finally {
      await open.coordinator.close();
    }
  });
});

describe('tokens in a store that stays', () => {
  it('are digests there, outlive a restart, and stay revoked whoever gives them again', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'broadside-tokens-'));
    const dataDir = join(folder, 'store');
    const adminTokenFile = join(folder, 'admin-token');
    const options = { dataDir, adminTokenFile, logger: pino({ level: 'silent' }) };
    const start = () => startCoordinator(options);
    try {
      let coordinator = await start();
      const firstText = (await readFile(adminTokenFile, 'utf8')).trim();
      expect((await stat(adminTokenFile)).mode & 0o777).toBe(0o600);
      const first = bearer(firstText);
      const second = await createToken(coordinator.url, first, 'admin');
      const viewer = await createToken(coordinator.url, first, 'viewer', 3_600_000);
      const list = (await ask(coordinator.url + ROUTES.tokens, 'GET', first)).text;
      const firstId = /"id":"([0-9a-f]{16})","name":"first admin"/.exec(list)?.[1] ?? '';
      for (const secret of [firstText, second.token, viewer.token])
        expect(list).not.toContain(secret.slice(20));
      await ask(`${coordinator.url}${ROUTES.tokens}/${firstId}`, 'DELETE', bearer(second.token));
      await coordinator.close();

      const store = await openStore({ dataDir });
      const stored = JSON.stringify(await store.db.selectFrom('tokens').selectAll().execute());
      await store.close();
      for (const secret of [firstText, second.token, viewer.token])
        expect(stored).not.toContain(secret.slice(20, 50));

      // The file with the revoked token is still there, and brings nothing back.
      coordinator = await start();
      const runs = coordinator.url + ROUTES.runs;
      expect((await ask(runs, 'GET', first)).status).toBe(401);
      expect((await ask(runs, 'GET', bearer(viewer.token))).status).toBe(200);
      expect((await ask(runs, 'GET', bearer(second.token))).status).toBe(200);
      await coordinator.close();
      await rm(adminTokenFile);

      // Nor is another one made while somebody has one.
      coordinator = await start();
      await expect(readFile(adminTokenFile)).rejects.toThrow('ENOENT');
      await coordinator.close();
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('are needed to listen beyond loopback', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'broadside-tokens-'));
    const logger = pino({ level: 'silent' });
    try {
      const dataDir = join(folder, 'store');
      await expect(startCoordinator({ host: '0.0.0.0', dataDir, logger })).rejects.toThrow(
        /^the coordinator does not listen on 0\.0\.0\.0 without an admin's token, because others can reach it$/,
      );
      const adminTokenFile = join(folder, 'token');
      await writeFile(adminTokenFile, 'short\n');
      const weak = startCoordinator({ host: '0.0.0.0', dataDir, adminTokenFile, logger });
      await expect(weak).rejects.toThrow(/holds no token: it must have at least 16 characters/);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

async function postRun(): Promise<string> {
  const { status, text } = await ask(url + ROUTES.runs, 'POST', holder('operator'), plan);
  if (status !== 201) throw new Error(`the run was not taken in: ${text}`);
  return runSummarySchema.parse(JSON.parse(text)).id;
}
