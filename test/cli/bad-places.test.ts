// Directories and limits of the machine that a command cannot work with: one line, the right code, nothing left behind.
import { mkdir, mkdtemp, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runProcess } from '../support/process.js';
import { broadside, MAIN, startBroadside } from './broadside.js';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'broadside-places-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

const SERVE = ['serve', '--port', '0', '--slots', '0', '--data-dir'];

describe('a data directory', () => {
  it('of somebody else is refused, and nothing is written into it', async () => {
    await mkdir(join(folder, 'postgres'));
    await writeFile(join(folder, 'postgres', 'PG_VERSION'), '17\n');
    const result = await broadside([...SERVE, folder]);
    expect(result.stderr).toMatch(/^broadside: .* is no data directory of Broadside and not empty .*\n$/);
    expect(result.exitCode).toBe(5);
    expect(await readdir(folder, { recursive: true })).toEqual(['postgres', 'postgres/PG_VERSION']);
  });

  it('that cannot be made is refused, even where the system denies it in an odd way', async () => {
    const result = await broadside([...SERVE, '/proc/broadside/store']);
    expect(result.stderr).toBe(
      'broadside: cannot keep the store in /proc/broadside/store: no directory can be made there\n',
    );
    expect(result.exitCode).toBe(5);
  });

  it('that is damaged is told in one line with its path and what to do', async () => {
    const path = join(folder, 'store');
    const first = await startBroadside([...SERVE, path]);
    await first.waitForLine(/listens on/);
    expect(await first.stop()).toMatchObject({ exitCode: 0 });
    await truncate(join(path, 'postgres', 'PG_VERSION'), 0);
    const result = await broadside([...SERVE, path]);
    expect(result.stderr).toMatch(
      /^broadside: the store in \S+ is damaged, or of another version: .*; put back a copy, or give another .*\n$/,
    );
    expect(result.stderr).toContain(path);
    expect(result.exitCode).toBe(5);
  });
});

describe.runIf(process.platform === 'linux')('too few open files', () => {
  it.each([
    ['run', 4],
    ['ab', 24],
    ['serve', 4],
  ])('are told by %s before anything is loaded', async (command, exitCode) => {
    const words = [process.execPath, MAIN, command, 'http://127.0.0.1:9/'];
    const result = await runProcess('sh', ['-c', 'ulimit -n 256 && exec "$@"', 'sh', ...words]);
    expect(result.stderr).toMatch(
      /^broadside: only 256 open files are allowed here, .*: ulimit -n 65536 .*\n$/,
    );
    expect(result.exitCode).toBe(exitCode);
  });

  it.each([
    ['run', 4],
    ['ab', 24],
  ])('are told by %s even where its modules cannot be read', async (command, exitCode) => {
    const words = [process.execPath, MAIN, command, 'http://127.0.0.1:9/'];
    const result = await runProcess('sh', ['-c', 'ulimit -n 20 && exec "$@"', 'sh', ...words]);
    expect(result.stderr).toMatch(/^broadside: .* open files are allowed .*: ulimit -n 65536.*\n$/);
    expect(result.exitCode).toBe(exitCode);
  });
});

describe('a working directory that was removed', () => {
  it.each(['run', 'ab', 'serve', 'doctor'])('is told by %s in one line', async (command) => {
    const gone = join(folder, 'gone');
    await mkdir(gone);
    const script = 'cd "$1" && rmdir "$1" && shift && exec "$@"';
    const words = [process.execPath, MAIN, command, 'http://127.0.0.1:9/'];
    const result = await runProcess('sh', ['-c', script, 'sh', gone, ...words]);
    expect(result.stderr).toBe(
      'broadside: the working directory was removed; go to another one, and start again there\n',
    );
    expect(result.exitCode).toBe(6);
  });
});

describe('a file for TLS', () => {
  it.each([
    [
      ['serve', '--port', '0', '--tls-cert', '/dev/null', '--tls-key', '/dev/null'],
      /^broadside: --tls-cert: /,
    ],
    [['runs', '--coordinator', 'https://127.0.0.1:9', '--ca', '/dev/null'], /^broadside: --ca: /],
    [
      ['ab', '--agents-at', 'https://127.0.0.1:9', '--coordinator-ca', '/dev/null', 'http://127.0.0.1:9/'],
      /^broadside: --coordinator-ca: /,
    ],
  ])('that is empty is told by flag and name: %j', async (words, flag) => {
    const result = await broadside(words);
    expect(result.stderr).toMatch(flag);
    expect(result.stderr).toMatch(/: \/dev\/null is empty; give a file with certificates .*\n$/);
    expect(result.stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(result.exitCode).toBe(2);
  });
});
