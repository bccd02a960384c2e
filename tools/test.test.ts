import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const SCRIPT = fileURLToPath(new URL('./test.mjs', import.meta.url));

function npmTest(...words: string[]) {
  return spawnSync(process.execPath, [SCRIPT, ...words], {
    encoding: 'utf8',
    timeout: 25_000,
    // Without what this very Vitest has set for its own.
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
  });
}

describe('npm test -- --help', () => {
  it.each(['--help', '-h'])('%s lists the options of Vitest, and builds nothing for it', (word) => {
    const { status, stdout } = npmTest(word);
    expect(status).toBe(0);
    expect(stdout).toMatch(/Usage:/);
    expect(stdout).not.toMatch(/== build|0 passed|ENOENT/);
  });
});

describe('npm test with what Vitest does not take', () => {
  it.each([
    [['--nope'], /^npm test: Vitest does not take --nope: Unknown option `--nope`; nothing was tested$/m],
    [['-t'], /^npm test: Vitest does not take -t: option `-t, .*` value is missing; nothing was tested$/m],
    [['--project', 'none'], /^npm test: .*: No projects matched the filter "none"\.; nothing was tested$/m],
  ])('%j is told in one line, and nothing is built', (words, line) => {
    const { status, stdout, stderr } = npmTest(...words);
    expect(status).toBe(1);
    expect(stdout).toMatch(line);
    expect(stdout).toMatch(/^0 passed, 1 failed$/m);
    expect(stdout + stderr).not.toMatch(/== build|\n {4}at /);
  });
});
