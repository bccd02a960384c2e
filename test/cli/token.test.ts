// `broadside token` against a real `broadside serve`, and what the tokens then allow on the command line.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tokenSummarySchema } from '@broadside/shared';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunningProcess } from '../support/process.js';
import { WellBehavedTarget } from '../targets/well-behaved-target.js';
import { broadside, startBroadside } from './broadside.js';

const LISTENS = /^broadside coordinator listens on (http:\S+)$/;

describe('broadside token', () => {
  const target = new WellBehavedTarget();
  let folder = '';
  let serve: RunningProcess;
  let url = '';
  let adminFile = '';

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'broadside-token-'));
    adminFile = join(folder, 'admin-token');
    await target.start();
    serve = await startBroadside(['serve', '--port', '0', '--slots', '1', '--admin-token-file', adminFile]);
    url = LISTENS.exec(await serve.waitForLine(LISTENS))?.[1] ?? '';
  });

  afterAll(async () => {
    await serve.stop();
    await target.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const token = (...words: readonly string[]) =>
    broadside(['token', ...words, '--coordinator', url, '--token-file', adminFile]);

  it('prints a new token alone, and tells the rest on stderr', async () => {
    const { exitCode, stdout, stderr } = await token(
      'create',
      '--role',
      'operator',
      '--name',
      'ci',
      '--expires',
      '30d',
    );
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/^broadside_user_[0-9a-f]{72}\n$/)]);
    expect(stderr).toMatch(
      /^broadside: token [0-9a-f]{16}, role operator; it expires .*; it is shown only this once\n$/,
    );
  });

  it('lists who holds what, and no token', async () => {
    const { stdout: made } = await token('create', '--role', 'viewer', '--name', 'wall display');
    const list = await token('list');
    expect(list.stdout).toMatch(/^[0-9a-f]{16} {2}viewer .* wall display$/m);
    const json = await token('list', '--json');
    const names = tokenSummarySchema
      .array()
      .parse(JSON.parse(json.stdout))
      .map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(['wall display', 'first admin', 'join token of this start']),
    );
    for (const { stdout } of [list, json]) expect(stdout).not.toContain(made.trim().slice(20, 60));
  });

  it('renews a token without a restart: the new one works, the old one ends', async () => {
    const create = async (): Promise<{ file: string; id: string }> => {
      const { stdout, stderr } = await token('create', '--role', 'operator', '--name', 'ci');
      const id = /token ([0-9a-f]{16})/.exec(stderr)?.[1] ?? '';
      const file = join(folder, id);
      await writeFile(file, stdout);
      return { file, id };
    };
    const run = (file: string) =>
      broadside([
        'run',
        '-q',
        '-n',
        '10',
        '-c',
        '1',
        '--coordinator',
        url,
        '--token-file',
        file,
        `${target.url}/`,
      ]);
    const old = await create();
    expect((await run(old.file)).exitCode).toBe(0);
    const fresh = await create();
    const revoked = await token('revoke', old.id);
    expect([revoked.exitCode, revoked.stderr]).toEqual([0, `broadside: revoked ${old.id} (operator, ci)\n`]);
    expect((await run(fresh.file)).exitCode).toBe(0);
    const refused = await run(old.file);
    const line =
      /^broadside: http:\S+: the token was revoked; give another one by BROADSIDE_TOKEN or --token-file\n$/;
    expect([refused.exitCode, refused.stderr]).toEqual([5, expect.stringMatching(line)]);
  });

  it('lets a viewer fire nothing, and an agent be no person', async () => {
    for (const [role, line] of [
      ['viewer', 'this needs the role operator; the token has viewer'],
      ['agent', 'a join token is good for agents only'],
    ] as const) {
      const { stdout } = await token('create', '--role', role, '--name', 'x');
      const words = ['run', '-q', '-n', '1', '-c', '1', '--coordinator', url, `${target.url}/`];
      const { exitCode, stderr } = await broadside(words, { BROADSIDE_TOKEN: stdout.trim() });
      expect([exitCode, stderr]).toEqual([5, expect.stringContaining(line)]);
      expect(stderr).not.toContain(stdout.trim());
    }
  });

  it.each([
    [['create'], 'give --role'],
    [['create', '--role', 'admin'], 'say with --name'],
    [['create', '--role', 'root', '--name', 'x'], '--role'],
    [['create', '--role', 'admin', '--name', ' '], '--name: must not be empty'],
    [['create', '--role', 'admin', '--name', 'x', '--expires', 'soon'], 'must be like 12h or 30d'],
    [['create', '--role', 'admin', '--name', 'x', '--expires', '1s'], '--expires: must be at least'],
    [['list', '--role', 'admin'], 'token list: takes no --role'],
    [['revoke'], 'give the id of one token'],
    [['creat'], 'did you mean create?'],
    [[], 'say create, list or revoke'],
  ])('%j is refused in one line', async (words, line) => {
    const { exitCode, stderr } = await token(...words);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(line)]);
    expect(stderr.trimEnd()).not.toContain('\n');
  });

  it('takes a life from a minute to ten years, and says so as it is typed', async () => {
    for (const [life, problem] of [
      ['5s', 'must be at least 1m'],
      ['3661d', 'must be at most 3660d'],
    ] as const) {
      const { exitCode, stderr } = await token(
        'create',
        '--role',
        'viewer',
        '--name',
        'x',
        '--expires',
        life,
      );
      expect([exitCode, stderr]).toEqual([2, `broadside: token create: --expires: ${problem}\n`]);
    }
    expect((await broadside(['help', 'token'])).stdout).toContain('from 1m to 3660d');
  });

  it('that ends during a run leaves the load going, and its command says so and how to stop it', async () => {
    const { stdout, stderr } = await token('create', '--role', 'operator', '--name', 'leaver');
    const tokenId = /token ([0-9a-f]{16})/.exec(stderr)?.[1] ?? '';
    const file = join(folder, 'leaver');
    await writeFile(file, stdout);
    const words = ['-d', '60s', '--rate', '10', '-c', '1', '--coordinator', url, '--token-file', file];
    const run = await startBroadside(['run', ...words, `${target.url}/`]);
    await run.waitForLine(/^\d+s {2}/);
    await token('revoke', tokenId);
    expect(await run.exit).toMatchObject({ exitCode: 5 });
    const runId = /the load of run ([0-9a-f-]{36}) goes on/.exec(run.stderr())?.[1] ?? 'none';
    expect(run.stderr()).toContain(`the token was revoked; `);
    expect(run.stderr()).toContain(`\`broadside kill --coordinator ${url}\` stops all load`);
    expect(run.stderr()).toContain(`DELETE ${url}/api/runs/${runId} this run`);
    const authorization = `Bearer ${(await readFile(adminFile, 'utf8')).trim()}`;
    const stopped = await fetch(`${url}/api/runs/${runId}`, { method: 'DELETE', headers: { authorization } });
    expect(stopped.ok).toBe(true);
  });

  it('says what is wrong with an id', async () => {
    const { exitCode, stderr } = await token('revoke', 'none');
    expect([exitCode, stderr]).toEqual([5, expect.stringContaining('there is no token none')]);
  });

  it('appears in no output of the coordinator', async () => {
    const admin = (await readFile(adminFile, 'utf8')).trim();
    expect(serve.stdout() + serve.stderr()).not.toContain(admin.slice(20, 60));
    expect(serve.stdout()).toContain(`the first admin's token: ${adminFile}`);
  });
});

describe('broadside serve beyond loopback', () => {
  it('is refused in one line where nobody has a token', async () => {
    const { exitCode, stderr } = await broadside([
      'serve',
      '--host',
      '0.0.0.0',
      '--port',
      '0',
      '--slots',
      '0',
    ]);
    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringMatching(/^broadside: .*others can reach it.*--admin-token-file.*\n$/),
    ]);
    expect(stderr.trimEnd()).not.toContain('\n');
  });

  it('warns in one line that tokens travel readable without TLS, and only there', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'broadside-open-'));
    const start = async (...words: readonly string[]): Promise<string> => {
      const file = join(folder, 'admin-token');
      const serve = await startBroadside(
        // This machine alone can reach that address, but it is none that counts as loopback.
        [
          'serve',
          '--host',
          '::ffff:127.0.0.1',
          '--port',
          '0',
          '--slots',
          '0',
          '--admin-token-file',
          file,
          ...words,
        ],
      );
      await serve.waitForLine(/^broadside coordinator listens on /);
      await serve.stop();
      return serve.stderr();
    };
    try {
      const warnings = (await start()).split('\n').filter((line) => line.includes(' warning: '));
      expect(warnings).toEqual([expect.stringMatching(/without TLS, so tokens .*--tls-cert and --tls-key/)]);
      expect(await start('--trust-proxy', '10.0.0.1')).not.toContain('without TLS');
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
