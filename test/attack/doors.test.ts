// An attacker's list against a coordinator's doors, over real sockets: guessing, holding on, forging who asks.

import { connect, type Socket } from 'node:net';
import { Writable } from 'node:stream';
import { auditEntrySchema, ROUTES } from '@broadside/shared';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStore } from '../../apps/coordinator/dist/storage/store.js';
import { CoordinatorUnderTest, plan } from '../coordinator/coordinator-under-test.js';
import { ask, bearer, createToken, type Headers, knock, sentenceOf } from './door.js';

const ADMIN_TOKEN = 'the-admin-token-of-this-test';
const admin = bearer(ADMIN_TOKEN);

describe('guessing', () => {
  it('is slowed down for whoever does it, gathered in the audit log, and locks out no made token', async () => {
    const under = await CoordinatorUnderTest.start({ apiToken: ADMIN_TOKEN, maxFailedLogins: 5 });
    const { url } = under.coordinator;
    try {
      const made = bearer((await createToken(url, admin, 'admin')).token);
      const guess = async (n: number): Promise<number> =>
        (await ask(url + ROUTES.runs, 'GET', bearer(`guess-${n}`))).status;
      for (let n = 0; n < 5; n++) expect(await guess(n)).toBe(401);
      expect(await guess(5)).toBe(429);
      expect((await ask(url + ROUTES.runs, 'GET', admin)).status).toBe(429);
      expect((await knock(url + ROUTES.agentSocket, bearer('guess'))).status).toBe(429);
      expect((await ask(url + ROUTES.runs, 'GET', made)).status).toBe(200);
      const { text } = await ask(`${url}${ROUTES.audit}?limit=10`, 'GET', made);
      const failed = auditEntrySchema
        .array()
        .parse(JSON.parse(text))
        .filter(({ action }) => action === 'login.failed');
      expect(
        failed.map(({ address, count, detail }) => `${count} ${detail['door']} ${address}`).toSorted(),
      ).toEqual(['1 agents 127.0.0.1', '7 people 127.0.0.1']);
    } finally {
      await under.coordinator.close();
    }
  });

  it('of a join token is told once for each reason, however often it is tried', async () => {
    const lines: string[] = [];
    const write = (chunk: Buffer, _encoding: string, done: () => void): void => {
      lines.push(chunk.toString('utf8'));
      done();
    };
    const logger = pino({ level: 'warn' }, new Writable({ write }));
    const under = await CoordinatorUnderTest.start({ apiToken: ADMIN_TOKEN, maxFailedLogins: 5, logger });
    try {
      for (let n = 0; n < 20; n++) {
        await knock(under.coordinator.url + ROUTES.agentSocket, bearer('an-old-token'));
      }
      const refusals = lines.filter((line) => line.includes('refused an agent'));
      expect(refusals).toEqual([
        expect.stringContaining('the join token is wrong'),
        expect.stringContaining('too many wrong tokens'),
      ]);
    } finally {
      await under.coordinator.close();
    }
  });
});

describe('holding on to connections', () => {
  let under: CoordinatorUnderTest;
  const sockets: Socket[] = [];

  beforeAll(async () => {
    under = await CoordinatorUnderTest.start();
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await under.coordinator.close();
  });

  /** A connection that sends a piece now and then for as long as it is let; resolves when it is cut off. */
  function drip(first: string, piece: string): Promise<void> {
    return new Promise((resolve) => {
      const socket = connect(under.coordinator.port, '127.0.0.1', () => socket.write(first));
      sockets.push(socket);
      const timer = setInterval(() => socket.write(piece), 500);
      socket.on('error', () => undefined);
      socket.resume();
      socket.once('close', () => {
        clearInterval(timer);
        resolve();
      });
    });
  }

  it('by never ending a header, a body, a handshake or a greeting is ended by the coordinator', async () => {
    const held: Promise<void>[] = [];
    for (let i = 0; i < 100; i++)
      held.push(drip('GET /api/runs HTTP/1.1\r\nHost: 127.0.0.1\r\n', 'X-A: b\r\n'));
    held.push(drip('', ''));
    const upgrade = 'GET /agent HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n';
    held.push(drip(upgrade, 'X-A: b\r\n'));
    const post = 'POST /api/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n';
    held.push(drip(`${post}Content-Length: 1000000\r\n\r\n{`, ' '));
    const { socket } = await knock(
      under.coordinator.url + ROUTES.agentSocket,
      bearer(under.coordinator.joinToken),
    );
    held.push(new Promise((resolve) => socket.once('close', () => resolve())));
    // Meanwhile everybody else is served.
    expect((await under.request('GET', ROUTES.runs)).status).toBe(200);
    await Promise.all(held);
  });
});

describe('saying who asks', () => {
  it('is believed of trusted proxies only, also where the audit log writes it down', async () => {
    const under = await CoordinatorUnderTest.start({ apiToken: ADMIN_TOKEN });
    const trusting = await CoordinatorUnderTest.start({
      apiToken: ADMIN_TOKEN,
      trustedProxies: ['127.0.0.0/8'],
    });
    const forwarded = {
      ...admin,
      'x-forwarded-for': '192.0.2.66, 198.51.100.7',
      'x-forwarded-host': 'bench.example',
    };
    const origin = { origin: 'https://bench.example' };
    try {
      const addressAfterStop = async ({
        coordinator: { url },
      }: CoordinatorUnderTest): Promise<string | undefined> => {
        await ask(`${url}${ROUTES.runs}/none`, 'DELETE', forwarded);
        return (await auditOf(url, admin))[0]?.address;
      };
      expect(await addressAfterStop(under)).toBe('127.0.0.1');
      expect(await addressAfterStop(trusting)).toBe('198.51.100.7');
      const post = async (url: string): Promise<number> =>
        (await ask(url + ROUTES.tickets, 'POST', { ...forwarded, ...origin })).status;
      expect([await post(under.coordinator.url), await post(trusting.coordinator.url)]).toEqual([403, 201]);
    } finally {
      await under.coordinator.close();
      await trusting.coordinator.close();
    }
  });
});

describe('the audit log', () => {
  it('says who did what and how it ended, and holds no secret', async () => {
    const lines: string[] = [];
    const sink = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        lines.push(chunk.toString('utf8'));
        done();
      },
    });
    const under = await CoordinatorUnderTest.start({
      apiToken: ADMIN_TOKEN,
      logger: pino({ level: 'debug' }, sink),
    });
    const { url } = under.coordinator;
    try {
      const operator = await createToken(url, admin, 'operator');
      const viewer = await createToken(url, admin, 'viewer');
      const secretPlan = {
        ...plan,
        target: 'http://127.0.0.1:9/path?key=hidden-key',
        user: 'me:hidden-password',
      };
      await ask(url + ROUTES.runs, 'POST', bearer(operator.token), secretPlan);
      await ask(url + ROUTES.runs, 'POST', bearer(viewer.token), plan);
      await ask(`${url}${ROUTES.runs}/none`, 'DELETE', bearer(operator.token));
      await ask(`${url}${ROUTES.tokens}/${viewer.id}`, 'DELETE', admin);
      await ask(url + ROUTES.runs, 'GET', bearer(viewer.token));
      await ask(url + ROUTES.runs, 'GET', bearer('hidden-guess'));
      await knock(url + ROUTES.agentSocket, bearer(operator.token));
      const entries = await auditOf(url, admin);
      expect(entries.map(({ action, result, who }) => [action, result, who?.role])).toEqual([
        ['run.create', 'forbidden', 'viewer'],
        ['login.failed', 'unauthorized', undefined],
        ['login.failed', 'unauthorized', undefined],
        ['token.revoke', 'done', 'admin'],
        ['run.stop', 'notFound', 'operator'],
        ['run.create', 'done', 'operator'],
        ['token.create', 'done', 'admin'],
        ['token.create', 'done', 'admin'],
      ]);
      const [fired] = entries.filter(({ action, result }) => action === 'run.create' && result === 'done');
      expect(fired).toMatchObject({
        who: { tokenId: operator.id, name: 'a operator' },
        address: '127.0.0.1',
        detail: { target: 'http://127.0.0.1:9/path' },
      });
      expect(fired?.subject).toMatch(/^[0-9a-f-]{36}$/);
      const older = await auditOf(url, admin, `?limit=2&before=${entries[2]?.id ?? 0}`);
      expect(older.map(({ action }) => action)).toEqual(['token.revoke', 'run.stop']);
      expect((await ask(`${url}${ROUTES.audit}?limit=0`, 'GET', admin)).status).toBe(400);
      expect((await ask(url + ROUTES.audit, 'GET', bearer(operator.token))).status).toBe(403);

      const written = lines.join('') + JSON.stringify(entries);
      const secrets = ['hidden-key', 'hidden-password', 'hidden-guess', ADMIN_TOKEN];
      for (const { token } of [operator, viewer]) secrets.push(token.slice(20, 60));
      for (const secret of secrets) expect(written).not.toContain(secret);
    } finally {
      await under.coordinator.close();
    }
  });

  it('says what a role was too little for, gathered by holder, address and act', async () => {
    const under = await CoordinatorUnderTest.start({ apiToken: ADMIN_TOKEN });
    const { url } = under.coordinator;
    try {
      const viewer = await createToken(url, admin, 'viewer');
      const operator = await createToken(url, admin, 'operator');
      const statusOf = async (token: string, method: string, path: string): Promise<number> =>
        (await ask(url + path, method, bearer(token), method === 'POST' ? plan : undefined)).status;
      const asked = [
        [viewer.token, 'POST', ROUTES.runs],
        [viewer.token, 'POST', ROUTES.kill],
        ...[1, 2, 3].map((n) => [viewer.token, 'DELETE', `${ROUTES.runs}/${n}`] as const),
        [operator.token, 'GET', ROUTES.audit],
        [operator.token, 'GET', ROUTES.tokens],
        [operator.token, 'DELETE', ROUTES.kill],
      ] as const;
      for (const [token, method, path] of asked) expect(await statusOf(token, method, path)).toBe(403);
      const entries = (await auditOf(url, admin)).filter(({ result }) => result === 'forbidden');
      expect(
        entries
          .map(({ who, address, action, count }) => `${who?.name} ${address} ${action} ${count}`)
          .toSorted(),
      ).toEqual([
        'a operator 127.0.0.1 audit.read 1',
        'a operator 127.0.0.1 kill.release 1',
        'a operator 127.0.0.1 token.list 1',
        'a viewer 127.0.0.1 kill 1',
        'a viewer 127.0.0.1 run.create 1',
        'a viewer 127.0.0.1 run.stop 3',
      ]);
    } finally {
      await under.coordinator.close();
    }
  });

  it('is not changed by anybody, and keeps only its newest lines', async () => {
    const { AuditRepository } = await import('../../apps/coordinator/dist/audit/audit.repository.js');
    const store = await openStore();
    try {
      const audit = new AuditRepository(store);
      const line = {
        at: new Date(),
        action: 'run.stop',
        address: '127.0.0.1',
        result: 'done',
        detail: {},
        count: 1,
      };
      for (let i = 0; i < 10; i++) await audit.append(line);
      await expect(store.pool.query("update audit set result = 'x'")).rejects.toThrow('is not changed');
      await audit.prune(3);
      expect((await audit.list({ limit: 100 })).map(({ id }) => id)).toEqual([10, 9, 8]);
    } finally {
      await store.close();
    }
  });
});

describe('an answer on its way to a socket that has gone', () => {
  it('harms nobody', async () => {
    const under = await CoordinatorUnderTest.start();
    try {
      const socket = connect(under.coordinator.port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write(
        'GET /agent HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
      );
      socket.resetAndDestroy();
      expect((await under.request('GET', ROUTES.healthz)).status).toBe(200);
    } finally {
      await under.coordinator.close();
    }
  });
});

async function auditOf(url: string, headers: Headers, query = '') {
  const reply = await ask(url + ROUTES.audit + query, 'GET', headers);
  if (reply.status !== 200) throw new Error(sentenceOf(reply));
  return auditEntrySchema.array().parse(JSON.parse(reply.text));
}
