// Secrets of a plan: they reach the agents, and nobody else; once a run has ended they are nowhere.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { planSchema, ROUTES, type RunDetail, splitPlan } from '@broadside/shared';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunRepository } from '../../apps/coordinator/dist/run/run.repository.js';
import { openStore, type Store } from '../../apps/coordinator/dist/storage/store.js';
import { StorePatience } from '../../apps/coordinator/dist/storage/store-patience.js';
import { CoordinatorUnderTest, plan } from './coordinator-under-test.js';

const patience = new StorePatience({ log: pino({ level: 'silent' }) });
const SECRET = 'kept-to-ourselves';
const ENCODED = Buffer.from(`me:${SECRET}`).toString('base64');
const KEY_LINE = 'MC4CAQAwBQYDK2VwBCIEIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f';

const secretPlan = {
  ...plan,
  target: 'https://127.0.0.1:9/',
  user: `me:${SECRET}`,
  proxy: '127.0.0.1:9',
  proxyUser: `me:${SECRET}`,
  headers: [`Cookie: ${SECRET}`, 'X-Note: shown'],
  tls: {
    cert: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----',
    key: `-----BEGIN PRIVATE KEY-----\n${KEY_LINE}\n-----END PRIVATE KEY-----`,
  },
};

function expectNoSecret(text: string): void {
  for (const secret of [SECRET, ENCODED, KEY_LINE]) expect(text).not.toContain(secret);
}

describe('secrets of a plan', () => {
  let folder = '';
  let under: CoordinatorUnderTest;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'broadside-secrets-'));
    under = await CoordinatorUnderTest.start({ dataDir: folder });
  });
  afterAll(async () => {
    await under.coordinator.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('are in no answer, while the run waits and when it has ended', async () => {
    const created = await under.request<RunDetail>('POST', ROUTES.runs, secretPlan);
    expect(created.status).toBe(201);
    expectNoSecret(JSON.stringify(created.body));
    const path = `${ROUTES.runs}/${created.body.id}`;
    const waiting = await under.request<RunDetail>('GET', path);
    expectNoSecret(JSON.stringify(waiting.body));
    expect(waiting.body.plan).toMatchObject({ user: '(redacted)', tls: { key: '(redacted)' } });
    expect(waiting.body.plan.headers).toEqual(['Cookie: (redacted)', 'X-Note: shown']);
    await under.request('DELETE', path);
    expectNoSecret(JSON.stringify((await under.request('GET', path)).body));
    expectNoSecret(JSON.stringify((await under.request('GET', ROUTES.runs)).body));
  });

  it('are refused when they come back as the marks that stand for them', async () => {
    const { body } = await under.request<RunDetail[]>('GET', ROUTES.runs);
    const detail = await under.request<RunDetail>('GET', `${ROUTES.runs}/${body[0]?.id ?? ''}`);
    const again = await under.request<{ error: { problems: { path: string }[] } }>(
      'POST',
      ROUTES.runs,
      detail.body.plan,
    );
    expect(again.status).toBe(400);
    const paths = again.body.error.problems.map(({ path }) => path);
    expect(paths).toEqual(['user', 'proxyUser', 'tls.key', 'headers.0']);
  });
});

describe('the store', () => {
  let folder = '';
  let store: Store;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'broadside-secrets-'));
    store = await openStore({ dataDir: folder, onError: () => undefined });
  });
  afterAll(async () => {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('keeps them as long as the run goes on, and forgets them with its end', async () => {
    const runs = new RunRepository(store, patience);
    const checked = planSchema.parse(secretPlan);
    const rowsOf = async (id: string): Promise<string> =>
      JSON.stringify([
        await store.db.selectFrom('runs').selectAll().where('id', '=', id).execute(),
        await store.db.selectFrom('shards').selectAll().where('run_id', '=', id).execute(),
      ]);
    for (const [id, end] of [
      ['ended', () => runs.change('ended', { state: 'finished', endedAt: new Date() })],
      ['left', () => runs.failUnfinished('restarted', new Date())],
    ] as const) {
      await runs.insert({ id, plan: checked, createdAt: new Date() });
      const shards = splitPlan(checked, id, 2);
      await runs.insertShards(shards.map((shard) => ({ shard, agentId: 'a', agentName: 'a' })));
      await runs.change(id, { state: 'running' });
      const during = await rowsOf(id);
      for (const secret of [SECRET, ENCODED, KEY_LINE]) expect(during).toContain(secret);
      await end();
      const after = await rowsOf(id);
      expectNoSecret(after);
      expect(after).toContain('X-Note: shown');
      expect((await runs.find(id))?.plan.target).toBe(secretPlan.target);
    }
  });

  it('leaves a plan without secrets as it was', async () => {
    const runs = new RunRepository(store, patience);
    const plain = planSchema.parse({ ...plan, headers: ['A: b'] });
    await runs.insert({ id: 'plain', plan: plain, createdAt: new Date() });
    const [shard] = splitPlan(plain, 'plain', 1);
    if (shard === undefined) throw new Error('a plan has at least one shard');
    await runs.insertShards([{ shard, agentId: 'a', agentName: 'a' }]);
    await runs.change('plain', { state: 'aborted' });
    const row = await store.db
      .selectFrom('shards')
      .select('shard')
      .where('run_id', '=', 'plain')
      .executeTakeFirst();
    expect(row?.shard).toEqual(JSON.parse(JSON.stringify(shard)));
    expect((await runs.find('plain'))?.plan).toEqual(plain);
  });
});
