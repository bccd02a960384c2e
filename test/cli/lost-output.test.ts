import { describe, expect, it } from 'vitest';
import { runProcess } from '../support/process.js';
import { closedPort, MAIN } from './broadside.js';

/** The command with its standard output sent elsewhere by a shell. */
function redirected(words: readonly string[], redirection: string) {
  const script = `exec "$0" "$@" ${redirection}`;
  return runProcess('/bin/sh', ['-c', script, process.execPath, MAIN, ...words], {
    env: { BROADSIDE_COORDINATOR: undefined, BROADSIDE_TOKEN: undefined },
  });
}

describe.runIf(process.platform === 'linux')('a standard output that is full', () => {
  it.each([
    [['--version']],
    [['help']],
    [['run', '--help']],
    [['ab', '-V']],
    [['doctor']],
    [['demo']],
    [['target', '--processes', '1']],
    [['ab', '-n', '1', 'URL']],
    [['run', '-q', '-n', '1', 'URL']],
    [['ab', '-q', '-n', '1', '--json', '-', 'URL']],
  ])('ends %j with one line and the code for a file', async (words: string[]) => {
    const url = `http://127.0.0.1:${await closedPort()}/`;
    const result = await redirected(
      words.map((word) => (word === 'URL' ? url : word)),
      '>/dev/full',
    );
    const line = 'broadside: cannot write standard output: no space left on the device';
    expect(result.stderr.split('\n').filter((text) => text.startsWith('broadside:'))).toEqual([line]);
    expect(result.stderr).not.toMatch(/^ +at /m);
    expect(result.exitCode).toBe(6);
  });

  it('changes nothing where it is standard error', async () => {
    const result = await redirected(['srve'], '2>/dev/full');
    expect(result).toMatchObject({ exitCode: 2, stdout: '', stderr: '' });
  });

  it.each([
    ['run', 4, /^Verdict/m],
    ['ab', 111, /^This is ApacheBench/],
  ])(
    'costs %s neither its report nor its code where it is standard error',
    async (command, exitCode, report) => {
      const url = `http://127.0.0.1:${await closedPort()}/`;
      const result = await redirected([command, '-n', '1', url], '2>/dev/full');
      expect(result.stdout).toMatch(report);
      expect(result.exitCode).toBe(exitCode);
    },
  );
});

it('a reader that went away ends a command quietly', async () => {
  const words = ['-c', '"$0" "$@" | true', process.execPath, MAIN, 'help'];
  expect(await runProcess('/bin/sh', words)).toMatchObject({ exitCode: 0, stderr: '' });
});
