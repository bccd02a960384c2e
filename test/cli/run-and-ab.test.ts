import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reportSchema } from '@broadside/shared';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assertExitCode } from '../support/process.js';
import { broadside, type StartedTarget, startTarget } from './broadside.js';

let target: StartedTarget;
let folder = '';
beforeAll(async () => {
  target = await startTarget();
  folder = await mkdtemp(join(tmpdir(), 'broadside-run-'));
});
afterAll(async () => {
  await target.process.stop();
  await rm(folder, { recursive: true });
});

describe('broadside ab', () => {
  it('prints the report of ab on stdout, its progress and our notes on stderr', async () => {
    const result = await broadside(['ab', '-n', '1003', '-c', '7', '-k', target.url]);
    assertExitCode(result, 0);
    const { stdout } = result;
    expect(stdout).toMatch(/^This is ApacheBench, Version 2\.3 <\$Revision: .+\$>\n/);
    expect(stdout).toContain(
      '\nBenchmarking 127.0.0.1 (be patient)\n\n\nServer Software:        broadside-target\n',
    );
    expect(stdout).toMatch(/^Complete requests: +1003\nFailed requests: +0\nKeep-Alive requests: +1003\n/m);
    expect(stdout).toMatch(/^HTML transferred: +100300 bytes$/m);
    expect(stdout).toMatch(/ 100% +\d+ \(longest request\)\n$/);
    const progress = result.stderr.split('\n').filter((line) => /^(Completed|Finished)/.test(line));
    const steps = Array.from({ length: 10 }, (_, i) => `Completed ${(i + 1) * 100} requests`);
    expect(progress).toEqual([...steps, 'Finished 1003 requests']);
    expect(result.stderr).toMatch(/^Books: +balance: 1,003 planned = 1,003 completed$/m);
  });

  it('is quiet with -q, and says done on one line', async () => {
    const result = await broadside(['ab', '-q', '-n', '200', '-c', '0', target.url]);
    assertExitCode(result, 0);
    expect(result.stdout).toContain('\nBenchmarking 127.0.0.1 (be patient).....done\n\n\n');
    expect(result.stderr).not.toMatch(/Completed|Finished/);
    expect(result.stderr).toMatch(/^broadside: -c 0 is taken as -c 1$/m);
  });

  it('posts a file', async () => {
    const path = join(folder, 'body');
    await writeFile(path, 'a=1&b=2');
    const result = await broadside(['ab', '-n', '5', '-p', path, '-T', 'x/y', target.url]);
    assertExitCode(result, 0);
    expect(result.stdout).toMatch(/^Total body sent: +\d+$/m);
    expect(result.stdout).toMatch(/^Complete requests: +5$/m);
  });
});

describe('broadside run', () => {
  it('reads a plan file, prints a summary, and writes the report as JSON', async () => {
    const plan = join(folder, 'plan.yaml');
    const json = join(folder, 'report.json');
    await writeFile(plan, `target: ${target.url}\nconnections: 4\nrequests: 999\n`);
    const result = await broadside(['run', '-n', '501', '--json', json, plan]);
    assertExitCode(result, 0);
    expect(result.stdout).toContain('501 planned = 501 completed');
    const report = reportSchema.parse(JSON.parse(await readFile(json, 'utf8')));
    expect(report.counters).toMatchObject({ planned: 501, completed: 501, connectionsOpened: 4 });
    expect(await readdir(folder)).not.toContainEqual(expect.stringMatching(/^\.report/));
  });

  it('writes nothing but JSON to stdout with --json -', async () => {
    const result = await broadside(['run', '-q', '-n', '20', '-c', '2', '--json', '-', target.url]);
    assertExitCode(result, 0);
    expect(reportSchema.parse(JSON.parse(result.stdout)).counters.completed).toBe(20);
    expect(result.stderr).toContain('20 planned = 20 completed');
  });

  it('writes plain lines of progress where no terminal is', async () => {
    const result = await broadside(['run', '-d', '2s', '-c', '2', target.url]);
    assertExitCode(result, 0);
    expect(result.stderr).toMatch(/^\d+s {2}[\d,]+\/s {2}0 failed {2}p50 /m);
    expect(result.stderr).not.toContain('\u001b');
  });
});

describe('broadside demo', () => {
  it('fires a real run, says how to go on, and ends by itself', async () => {
    const result = await broadside(['demo']);
    assertExitCode(result, 0);
    expect(result.stdout).toMatch(/balance: [\d,]+ planned = [\d,]+ completed/);
    expect(result.stdout).toContain('How to go on:');
    const url = /http:\/\/127\.0\.0\.1:\d+\//.exec(result.stdout)?.[0] ?? '';
    await expect(fetch(url)).rejects.toThrow('fetch failed');
  });
});

describe('broadside --version', () => {
  it('answers without loading anything heavy', async () => {
    const result = await broadside(['--version']);
    assertExitCode(result, 0);
    expect(result.stdout).toMatch(/^broadside \d+\.\d+\.\d+\n$/);
  });
});
