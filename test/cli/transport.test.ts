import { reportSchema } from '@broadside/shared';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assertExitCode } from '../support/process.js';
import { broadside, type StartedTarget, startTarget } from './broadside.js';

let target: StartedTarget;
beforeAll(async () => {
  target = await startTarget();
});
afterAll(async () => {
  await target.process.stop();
});

describe('--transport', () => {
  it.each(['run', 'ab'])('of %s is what the engines use, and the report says so', async (command) => {
    const words = [command, '-q', '-n', '20', '-c', '2', '--transport', 'socket', '--json', '-', target.url];
    const result = await broadside(words);
    assertExitCode(result, 0);
    const { shards } = reportSchema.parse(JSON.parse(result.stdout));
    expect(new Set(shards.map(({ transport }) => transport))).toEqual(new Set(['socket']));
  });

  it.each([
    [
      ['run', '--transport', 'epol'],
      2,
      /^broadside: --transport "epol": must be one of auto, io_uring, epoll/,
    ],
    [['demo', '--transport', 'epol'], 2, /^broadside: --transport "epol": must be one of /],
    [
      ['agent', '--join', 'http://127.0.0.1:9', '--transport', 'x'],
      2,
      /^broadside: --transport "x": must be/,
    ],
    [['serve', '--transport', 'x'], 2, /^broadside: --transport "x": must be/],
    [
      ['serve', '--slots', '0', '--transport', 'epoll'],
      2,
      /^broadside: --transport: there are no slots here/,
    ],
    [['ab', '--transport', 'x'], 22, /^ab: invalid --transport x: give auto, io_uring, epoll, socket$/m],
    [
      ['run', '--coordinator', 'http://127.0.0.1:9', '--transport', 'epoll'],
      2,
      /^broadside: --transport belongs to the agents there .*because --coordinator names a coordinator\n$/,
    ],
  ])('%j is refused in one line', async (words, code, expected) => {
    const takesUrl = words[0] === 'run' || words[0] === 'ab';
    const env = { BROADSIDE_JOIN_TOKEN: 'x'.repeat(16) };
    const { exitCode, stdout, stderr } = await broadside(takesUrl ? [...words, target.url] : words, env);
    expect({ exitCode, stdout }).toEqual({ exitCode: code, stdout: '' });
    expect(stderr).toMatch(expected);
  });
});
