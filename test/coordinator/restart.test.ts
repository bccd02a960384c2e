import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROUTES, type RunSummary } from '@broadside/shared';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore } from '../../apps/coordinator/dist/storage/store.js';
import { startProcess } from '../support/process.js';
import { CoordinatorUnderTest, plan } from './coordinator-under-test.js';

/** Starts a coordinator on the directory, posts a run that waits for agents, and says its id. */
const PROGRAM = `
  import { startCoordinator } from '@broadside/coordinator';
  const [dataDir, path, body] = process.argv.slice(1);
  const { url } = await startCoordinator({ dataDir });
  const headers = { 'content-type': 'application/json' };
  const run = await (await fetch(url + path, { method: 'POST', body, headers })).json();
  console.log('run ' + run.id);
`;

describe('a coordinator that starts again after a crash', () => {
  let dataDir = '';
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'broadside-restart-'));
  });
  afterEach(() => rm(dataDir, { recursive: true, force: true }));

  it('marks the runs that had not ended as failed, with the reason', async () => {
    const args = ['--input-type=module', '-e', PROGRAM, dataDir, ROUTES.runs, JSON.stringify(plan)];
    const first = await startProcess(process.execPath, args, { cwd: import.meta.dirname });
    const line = await first.waitForLine(/^run /);
    await first.kill();
    const runId = line.replace('run ', '').trim();

    const under = await CoordinatorUnderTest.start({ dataDir });
    try {
      const { body } = await under.request<RunSummary>('GET', `${ROUTES.runs}/${runId}`);
      expect(body).toMatchObject({
        state: 'failed',
        reason: 'the coordinator was stopped before the run had ended',
      });
      expect(body.endedAt).toBeDefined();
    } finally {
      await under.coordinator.close();
    }
  });

  it('finds that an attempt which its agent would not take did nothing', async () => {
    const under = await CoordinatorUnderTest.start({ dataDir });
    const draining = { code: 'AGENT_DRAINING', message: 'the agent is leaving' };
    await under.join({ agentId: 'leaving', slots: 1, refusesWith: draining });
    await under.join({ agentId: 'staying', slots: 1 });
    const { report } = await under.finished(await under.post({ ...plan, slots: 1 }));
    await under.dismissAgents();
    await under.coordinator.close();
    expect(report?.ledger.problems).toEqual([]);
    const store = await openStore({ dataDir });
    const rows = await store.db
      .selectFrom('shards')
      .select(['agent_id', 'state'])
      .orderBy('attempt')
      .execute();
    await store.close();
    expect(rows).toEqual([
      { agent_id: 'leaving', state: 'unused' },
      { agent_id: 'staying', state: 'finished' },
    ]);
  });
});
