import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { broadside, closedPort } from './broadside.js';

const URL = 'http://127.0.0.1:9/';
let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'broadside-cli-'));
  await writeFile(join(folder, 'broken.yaml'), 'target: [http://h/\n');
  await writeFile(join(folder, 'wrong.yaml'), 'target: http://h/\nconnections: none\n');
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

interface Expected {
  readonly code: number;
  readonly stderr: RegExp;
}

describe('mistakes are refused before anything is started', () => {
  it.each([
    [['ab', '-n', 'abc', URL], { code: 1, stderr: /^Invalid number of requests\n\n$/ }],
    [
      ['ab', '-c', '5', '-n', '2', URL],
      { code: 22, stderr: /^ab: Cannot use concurrency level greater than total/ },
    ],
    [['ab', '-Y', URL], { code: 22, stderr: /^ab: illegal option -- Y\n/ }],
    [['ab', '-h'], { code: 22, stderr: /^Usage: broadside ab / }],
    [
      ['ab', '-p', 'FOLDER/none', URL],
      { code: 1, stderr: /^ab: Could not open POST data file \(.*none\): / },
    ],
    [
      ['ab', '--json', 'FOLDER/none/r.json', URL],
      { code: 6, stderr: /^broadside: cannot write .*r\.json: no such file/ },
    ],
    [
      ['ab', '--agents-at', 'ftp://x', URL],
      { code: 2, stderr: /^broadside: --agents-at: must begin with http/ },
    ],
    [['run', '-n', 'abc', URL], { code: 2, stderr: /^broadside: --requests: / }],
    [['run', '-c', '0', URL], { code: 2, stderr: /^broadside: --connections: .*at least 1/ }],
    [
      ['run', '-c', '5', '-n', '2', URL],
      { code: 2, stderr: /^broadside: --connections: 5 connections are more/ },
    ],
    [
      ['run', '-H', 'foo', URL],
      { code: 2, stderr: /^broadside: --header: header 1 is not `Name: value`\n$/ },
    ],
    [
      ['run', '--requets', '5', URL],
      { code: 2, stderr: /^broadside: run: unknown flag --requets; did you mean --requests\?/ },
    ],
    [
      ['run', 'FOLDER/broken.yaml'],
      { code: 2, stderr: /^broadside: .*broken\.yaml:\d+:\d+: not valid YAML: / },
    ],
    [['run', 'FOLDER/wrong.yaml'], { code: 2, stderr: /^broadside: .*wrong\.yaml:2:1: connections: / }],
    [['run', 'FOLDER/none.yaml'], { code: 6, stderr: /^broadside: cannot read plan file .*none\.yaml: / }],
    [['run', '--json', 'FOLDER', URL], { code: 6, stderr: /^broadside: cannot write .*: it is a folder/ }],
    [['serve', '--port', '70000'], { code: 2, stderr: /^broadside: --port "70000": must be a whole number/ }],
    [
      ['serve', '--host', '0.0.0.0', '--port', '0'],
      {
        code: 2,
        stderr: /: --token \(or BROADSIDE_TOKEN\): is required to listen on 0\.0\.0\.0, /,
      },
    ],
    [
      ['serve', '--keep-runs', '0'],
      { code: 2, stderr: /^broadside: --keep-runs "0": must be a whole number from 1 to 100000\n$/ },
    ],
    [['serve', '--redis', 'x'], { code: 2, stderr: /^broadside: .*: --redis: must look like redis:/ }],
    [
      ['serve', '--agent-redis', 'redis://h'],
      { code: 2, stderr: /: --agent-redis: needs --redis \(or BROADSIDE_REDIS_URL\); / },
    ],
    [['agent'], { code: 2, stderr: /^broadside: agent: give the coordinator with --join/ }],
    [['agent', '--join', 'ftp://h'], { code: 2, stderr: /^broadside: --join: must begin with http/ }],
    [['agent', '--join', 'http://127.0.0.1:9'], { code: 2, stderr: /^broadside: agent: no join token/ }],
    [['target', '--size', '-1'], { code: 2, stderr: /^broadside: target: flag --size needs a value/ }],
    [['target', '--delay', 'long'], { code: 2, stderr: /^broadside: --delay "long": / }],
    [['demo', 'now'], { code: 2, stderr: /^broadside: demo: unexpected argument "now"/ }],
    [['srve'], { code: 2, stderr: /^broadside: unknown command "srve"; did you mean `serve`\?/ }],
    [[], { code: 2, stderr: /^Usage: broadside / }],
  ])('%j', async (words: string[], expected: Expected) => {
    const result = await broadside(words.map((word) => word.replace('FOLDER', folder)));
    expect(result.stderr).toMatch(expected.stderr);
    expect(result.exitCode).toBe(expected.code);
    expect(result.stdout).toBe('');
  });

  it.each([
    [['serve'], { BROADSIDE_REDIS_URL: 'x' }, /^broadside: .*: BROADSIDE_REDIS_URL: must look like redis:/],
    [['serve'], { BROADSIDE_SLOTS: 'x' }, /^broadside: BROADSIDE_SLOTS "x": must be a whole number/],
    [
      ['serve'],
      { BROADSIDE_KEEP_RUNS: 'all' },
      /^broadside: BROADSIDE_KEEP_RUNS "all": must be a whole number/,
    ],
    [['serve'], { BROADSIDE_TRANSPORT: 'x' }, /^broadside: BROADSIDE_TRANSPORT "x": must be one of/],
    [['agent'], { BROADSIDE_COORDINATOR: 'ftp://h' }, /^broadside: BROADSIDE_COORDINATOR: must begin with/],
    [['agent', '--join', 'h'], { BROADSIDE_JOIN_TOKEN: 'a b' }, /^broadside: BROADSIDE_JOIN_TOKEN: /],
    [
      ['agent', '--join', 'h', '--token', 't'],
      { BROADSIDE_REDIS_URL: 'x' },
      /^broadside: BROADSIDE_REDIS_URL: must look like redis:/,
    ],
    [['run', '--coordinator', 'h', URL], { BROADSIDE_TOKEN: 'a b' }, /^broadside: BROADSIDE_TOKEN: /],
  ])('%j with %j is told by the name of the variable', async (words, env, stderr) => {
    const result = await broadside(words, env);
    expect(result.stderr).toMatch(stderr);
    expect(result.stderr).toMatch(/^[^\n]+\n$/);
    expect(result.exitCode).toBe(2);
  });

  it('and leave no file behind', async () => {
    expect((await readdir(folder)).toSorted()).toEqual(['broken.yaml', 'wrong.yaml']);
  });
});

describe('a target or a coordinator that cannot be reached', () => {
  it('ends ab with its own message and status for a refused port', async () => {
    const port = await closedPort();
    const result = await broadside(['ab', '-n', '10', `http://127.0.0.1:${port}/`]);
    expect(result.stderr).toMatch(/^\s*apr_socket_recv: Connection refused \(111\)\n$/);
    expect(result.exitCode).toBe(111);
  });

  it('ends ab with its own message and status for an unknown name', async () => {
    const result = await broadside(['ab', '-n', '10', 'http://name.invalid/']);
    expect(result.stderr).toMatch(/^\s*apr_sockaddr_info_get\(\) for name\.invalid: .* \(6700\d\d\)\n$/);
    expect([50, 51]).toContain(result.exitCode);
  });

  it.each([[['-n', '1']], [['-n', '10', '-c', '2']]])(
    'ends a run of %j with code 4 for a refused port',
    async (budget: string[]) => {
      const port = await closedPort();
      const result = await broadside(['run', '-q', ...budget, `http://127.0.0.1:${port}/`]);
      expect(result.stdout).toMatch(/connections? refused/);
      expect(result.exitCode).toBe(4);
    },
  );

  it('ends a run with code 4 for an unknown name', async () => {
    const result = await broadside(['run', '-n', '10', 'http://name.invalid/']);
    expect(result.stdout).toMatch(/name\.invalid/);
    expect(result.exitCode).toBe(4);
  });

  it('ends a run with code 5 where no coordinator is', async () => {
    const port = await closedPort();
    const result = await broadside(['run', '--coordinator', `http://127.0.0.1:${port}`, '-n', '10', URL]);
    expect(result.stderr).toMatch(/^broadside: cannot reach the coordinator at .*: connection refused/m);
    expect(result.exitCode).toBe(5);
  });

  it('ends an agent with code 5, and the token stays secret', async () => {
    const port = await closedPort();
    const words = ['agent', '--join', `http://127.0.0.1:${port}`];
    const result = await broadside(words, { BROADSIDE_JOIN_TOKEN: 'very-secret-token' });
    expect(result.exitCode).toBe(5);
    expect(result.stderr).toMatch(/^broadside: .*127\.0\.0\.1/);
    expect(result.stdout + result.stderr).not.toContain('very-secret-token');
  });
});

describe('help and version', () => {
  it.each([
    [['help', 'help'], /^Usage: broadside /],
    [['help', 'version'], /^Usage: broadside /],
    [['-V'], /^broadside \d/],
  ])('%j answers', async (words: string[], expected: RegExp) => {
    const result = await broadside(words);
    expect(result).toMatchObject({ exitCode: 0, stderr: '' });
    expect(result.stdout).toMatch(expected);
  });
});
