// What `ab` prints of requests and replies (-v), and its file of samples (-g), beside the real ab.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runProcess } from '../support/process.js';
import { canRun, programPath } from '../support/programs.js';
import { WellBehavedTarget } from '../targets/well-behaved-target.js';
import { fire } from './command-line.js';
import { type StartedCoordinator, startServe } from './started-cluster.js';

const COMMAND_TIMEOUT_MS = 180_000;

describe.runIf(canRun('ab'))('broadside ab beside the real ab', () => {
  const target = new WellBehavedTarget();
  const missing = new WellBehavedTarget({ status: '404 Not Found' });
  let coordinator: StartedCoordinator;
  let folder = '';

  beforeAll(async () => {
    await target.start();
    await missing.start();
    folder = await mkdtemp(join(tmpdir(), 'broadside-e2e-'));
    coordinator = await startServe(['--slots', '1']);
  });
  afterAll(async () => {
    await coordinator.process.stop();
    await missing.stop();
    await target.stop();
    await rm(folder, { recursive: true });
  });

  const fireAb = (words: readonly string[]) =>
    fire(['ab', '--agents-at', coordinator.url, ...words], COMMAND_TIMEOUT_MS);

  // Its output is compared as text: dumps of replies are in no form that the reader of reports knows.
  const realAb = (words: readonly string[]) => runProcess(programPath('ab'), words);

  /** All that stands before the report. */
  const beginning = (stdout: string): string => {
    const end = stdout.indexOf('Server Software:');
    return stdout.slice(stdout.indexOf('Benchmarking'), end < 0 ? undefined : end);
  };

  it.each([
    ['2', ['-k'], 200],
    ['3', ['-k'], 200],
    ['4', [], 200],
    ['2', [], 404],
    ['3', ['-k'], 404],
  ])('prints one request and its reply to the byte: -v %s %j, status %i', async (level, options, status) => {
    const { url } = status === 200 ? target : missing;
    const words = ['-v', level, '-n', '1', ...options, `${url}/`];
    const theirs = await realAb(words);
    const ours = await fireAb(words);
    expect(beginning(theirs.stdout)).toContain('LOG: header received:\nHTTP/1.');
    expect(beginning(ours.stdout)).toBe(beginning(theirs.stdout));
  });

  it('prints the first of several replies, and says that ab prints all', async () => {
    const words = ['-v', '3', '-n', '3', '-k', `${target.url}/`];
    const theirs = beginning((await realAb(words)).stdout);
    const ours = await fireAb(words);
    const [request, reply, ...others] = theirs.split('LOG: header received:\n');
    expect(others).toHaveLength(2);
    expect(beginning(ours.stdout)).toBe(`${request}LOG: header received:\n${reply}..done\n\n\n`);
    expect(ours.stderr).toContain('the first reply is printed; ab prints each of them');
  });

  it('writes a file of samples in the form of ab, with as many rows, sorted by duration', async () => {
    const words = ['-n', '40', '-c', '4', '-k'];
    const rowsOf = async (name: string): Promise<string[][]> => {
      const text = await readFile(join(folder, name), 'utf8');
      expect(text.endsWith('\n')).toBe(true);
      return text
        .slice(0, -1)
        .split('\n')
        .map((line) => line.split('\t'));
    };
    await realAb([...words, '-g', join(folder, 'theirs'), `${target.url}/`]);
    const ours = await fireAb([...words, '-g', join(folder, 'ours'), `${target.url}/`]);
    const [head, ...rows] = await rowsOf('ours');
    const [theirHead, ...theirRows] = await rowsOf('theirs');
    expect(head).toEqual(theirHead);
    expect(rows).toHaveLength(theirRows.length);
    for (const row of [...rows, ...theirRows]) {
      expect(row.join('\t')).toMatch(
        /^[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d \d\d:\d\d:\d\d \d{4}\t\d{10}(\t\d+){4}$/,
      );
    }
    const totals = rows.map((row) => Number(row[4]));
    expect(totals).toEqual(totals.toSorted((a, b) => a - b));
    expect(ours.stderr.replace(/\s+/g, ' ')).toContain('-g: rows are made from histograms');
  });

  it('writes no file of samples with an HTML report, as ab', async () => {
    const file = join(folder, 'none');
    const ours = await fireAb(['-n', '2', '-w', '-g', file, `${target.url}/`]);
    expect(ours.exitCode).toBe(0);
    await expect(readFile(file)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
