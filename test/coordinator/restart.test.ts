import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROUTES, type RunSummary } from '@broadside/shared';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
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
});
