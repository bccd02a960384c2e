// What a list of runs tells without reading their reports: of runs that end now, and of those of an older store.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Plan, parsePlan } from '@broadside/shared';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunRepository } from '../../apps/coordinator/dist/run/run.repository.js';
import { openStore, type Store } from '../../apps/coordinator/dist/storage/store.js';
import { StorePatience } from '../../apps/coordinator/dist/storage/store-patience.js';
import { CoordinatorUnderTest, plan as planInput } from '../coordinator/coordinator-under-test.js';
import { PostgresServer } from '../support/postgres.js';
import { canRun } from '../support/programs.js';

const REPORT = {
  counters: { completed: 20_000 },
  verdict: { outcome: 'pass' },
  seconds: ['x'.repeat(9_000)],
};

function checkedPlan(): Plan {
  const parsed = parsePlan({ ...planInput, name: 'nightly' });
  if (!parsed.ok) throw new Error('the plan is not valid');
  return parsed.plan;
}

/** As a store was before lists had columns of their own, with one run that has ended, one that has no report. */
async function makeOld({ db, pool }: Store): Promise<void> {
  const plan = JSON.stringify(checkedPlan());
  await db
    .insertInto('runs')
    .values([
      { id: 'old', state: 'finished', plan, created_at: new Date(2_000), report: JSON.stringify(REPORT) },
      {
        id: 'odd',
        state: 'finished',
        plan,
        created_at: new Date(1_000),
        report: '{"counters":{"completed":"?"}}',
      },
      { id: 'cut', state: 'failed', plan, created_at: new Date(0) },
    ])
    .execute();
  await pool.query('alter table broadside.runs drop column completed, drop column verdict');
  await pool.query("delete from broadside.kysely_migration where name >= '0007'");
}

describe.each([
  ['embedded', true],
  ['on a PostgreSQL server', canRun('initdb', 'postgres')],
] as const)('an older store %s', (kind, isAvailable) => {
  describe.runIf(isAvailable)('that is opened', () => {
    let open: () => Promise<Store>;
    let remove: () => Promise<void>;
    beforeAll(async () => {
      if (kind === 'embedded') {
        const dataDir = await mkdtemp(join(tmpdir(), 'broadside-run-list-'));
        open = () => openStore({ dataDir });
        remove = () => rm(dataDir, { recursive: true, force: true });
      } else {
        const server = await PostgresServer.start();
        open = () => openStore({ databaseUrl: server.url });
        remove = () => server.stop();
      }
    });
    afterAll(() => remove());

    it('lists its runs with what their reports say', async () => {
      const old = await open();
      await makeOld(old);
      await old.close();
      const store = await open();
      try {
        const runs = new RunRepository(store, new StorePatience({ log: pino({ level: 'silent' }) }));
        const common = { target: planInput.target, name: 'nightly' };
        expect(await runs.list(3)).toEqual([
          {
            ...common,
            id: 'old',
            state: 'finished',
            createdAt: '1970-01-01T00:00:02.000Z',
            completed: 20_000,
            verdict: 'pass',
          },
          { ...common, id: 'odd', state: 'finished', createdAt: '1970-01-01T00:00:01.000Z' },
          { ...common, id: 'cut', state: 'failed', createdAt: '1970-01-01T00:00:00.000Z' },
        ]);
      } finally {
        await store.close();
      }
    });
  });
});

describe('a list of runs', () => {
  it('says how each went, is as long as it was asked for, and refuses what is no length', async () => {
    const under = await CoordinatorUnderTest.start();
    try {
      await under.join({ agentId: 'a', slots: 1 });
      await under.finished(await under.post(planInput));
      const id = await under.post(planInput);
      const { completed, verdict, report } = await under.finished(id);
      expect([completed, verdict]).toEqual([1_003, report?.verdict.outcome]);
      const { body } = await under.request<object[]>('GET', '/api/runs?limit=1');
      expect(body).toMatchObject([{ id, completed: 1_003, verdict }]);
      expect((await under.request<object[]>('GET', '/api/runs')).body).toHaveLength(2);
      for (const limit of ['0', '1001', 'x']) {
        expect((await under.request('GET', `/api/runs?limit=${limit}`)).status).toBe(400);
      }
    } finally {
      await under.dismissAgents();
      await under.coordinator.close();
    }
  });
});
