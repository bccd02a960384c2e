// `broadside runs` and `broadside report` against a real `broadside serve`, by somebody who may only look.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reportSchema } from '@broadside/shared';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunningProcess } from '../support/process.js';
import { WellBehavedTarget } from '../targets/well-behaved-target.js';
import { broadside, closedPort, startBroadside } from './broadside.js';

const LISTENS = /^broadside coordinator listens on (http:\S+)$/;
const UNDER_LOAD = /^\d+s {2}/;

const target = new WellBehavedTarget({ delayMs: 2 });
let folder = '';
let serve: RunningProcess;
let url = '';
let admin: readonly string[] = [];
let viewer: readonly string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'broadside-report-'));
  const adminFile = join(folder, 'admin');
  await target.start();
  serve = await startBroadside(['serve', '--port', '0', '--slots', '1', '--admin-token-file', adminFile]);
  url = LISTENS.exec(await serve.waitForLine(LISTENS))?.[1] ?? '';
  admin = ['--coordinator', url, '--token-file', adminFile];
  const made = await broadside(['token', 'create', '--role', 'viewer', '--name', 'x', ...admin]);
  await writeFile(join(folder, 'viewer'), made.stdout);
  viewer = ['--coordinator', url, '--token-file', join(folder, 'viewer')];
});

afterAll(async () => {
  await serve.stop();
  await target.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Of the newest run. */
async function newestId(): Promise<string> {
  const { stdout } = await broadside(['runs', '--limit', '1', '--json', ...viewer]);
  return (JSON.parse(stdout) as { id: string }[])[0]?.id ?? '';
}

describe('a run that has ended', () => {
  it('is listed, and its report is told again in the same words and with the same code', async () => {
    const run = await broadside(['run', '-q', '-n', '20', '-c', '2', ...admin, `${target.url}/`]);
    const id = await newestId();
    const list = await broadside(['runs', ...viewer]);
    expect(list.stdout).toMatch(
      new RegExp(`^${id} {2}finished +\\d{4}-\\S+ \\S+Z +20 +pass +${target.url}/$`, 'm'),
    );
    const json = join(folder, 'report.json');
    const again = await broadside(['report', id.slice(0, 8), '--json', json, ...viewer]);
    expect([again.stdout, again.stderr, again.exitCode]).toEqual([run.stdout, '', 0]);
    const report = reportSchema.parse(JSON.parse(await readFile(json, 'utf8')));
    expect([report.run.id, report.counters.completed]).toEqual([id, 20]);
    const failing = await broadside(
      ['run', '-q', '-n', '2', '-c', '1', ...admin].concat(`http://127.0.0.1:${await closedPort()}/`),
    );
    const failed = await broadside(['report', await newestId(), ...viewer]);
    expect([failed.exitCode, failed.stdout]).toEqual([failing.exitCode, failing.stdout]);
    expect(failed.exitCode).toBe(4);
  });
});

describe('a run that goes on', () => {
  it('is named by whoever leaves it, has no report yet, and can be waited for', async () => {
    const run = await startBroadside(['run', '-d', '60s', '-c', '2', ...admin, `${target.url}/`]);
    await run.waitForLine(UNDER_LOAD);
    const id = await newestId();
    const early = await broadside(['report', id.slice(0, 8), ...viewer]);
    expect([early.exitCode, early.stdout]).toEqual([5, '']);
    expect(early.stderr).toBe(
      `broadside: run ${id} has not ended (running); \`broadside report ${id} --wait\` shows its progress, ` +
        'and its report at the end\n',
    );
    const waiting = await startBroadside(['report', id, '--wait', ...viewer]);
    await waiting.waitForLine(UNDER_LOAD);
    // A coordinator that stands still: the first signal cannot end the run before the second one comes.
    serve.signal('SIGSTOP');
    try {
      run.signal('SIGINT');
      await run.waitForLine(/a second signal leaves at once/);
      run.signal('SIGINT');
      expect(await run.exit).toMatchObject({ exitCode: 130 });
    } finally {
      serve.signal('SIGCONT');
    }
    expect(run.stderr()).toContain(
      `broadside: for the report of run ${id}, later: broadside report ${id} --coordinator ${url}\n`,
    );
    const authorization = `Bearer ${(await readFile(join(folder, 'admin'), 'utf8')).trim()}`;
    await fetch(`${url}/api/runs/${id}`, { method: 'DELETE', headers: { authorization } });
    expect(await waiting.exit).toMatchObject({ exitCode: 5 });
    expect(waiting.stdout()).toMatch(/^Verdict +aborted/m);
  });
});

describe('what is wrong with the question', () => {
  it.each([
    [['report'], 2, /^broadside: report: give the id of one run/],
    [['report', 'a', 'b'], 2, /give the id of one run/],
    [['report', 'no id'], 2, /^broadside: "no id" is no run id; `broadside runs` lists them\n$/],
    [['report', 'zz'], 5, /^broadside: there is no run zz…; `broadside runs` lists the newest/],
    [['report', '00000000-0000-4000-8000-000000000000'], 5, /there is no run 00000000-0000-4000-8000/],
    [['runs', '--limit', '0'], 2, /^broadside: --limit "0": must be a whole number from 1 to 1000\n$/],
    [['runs', 'x'], 2, /^broadside: runs: unexpected argument "x"/],
  ])('is told of %j in one line', async (words, exitCode, line) => {
    const result = await broadside([...words, ...viewer]);
    expect([result.exitCode, result.stdout]).toEqual([exitCode, '']);
    expect(result.stderr).toMatch(line);
    expect(result.stderr.trimEnd()).not.toContain('\n');
  });

  it('is told where no token is given, and where nobody listens', async () => {
    for (const command of ['runs', 'report']) {
      const words = command === 'runs' ? [command] : [command, 'ab'];
      const { exitCode, stderr } = await broadside([...words, '--coordinator', url]);
      expect([exitCode, stderr]).toEqual([5, expect.stringMatching(/BROADSIDE_TOKEN or --token-file\n$/)]);
      const nobody = `http://127.0.0.1:${await closedPort()}`;
      const gone = await broadside([...words, '--coordinator', nobody]);
      expect([gone.exitCode, gone.stderr]).toEqual([5, expect.stringContaining('connection refused')]);
    }
  });
});
