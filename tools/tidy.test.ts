import { describe, expect, it } from 'vitest';
import { findUntidy } from './tidy.mjs';

// Spelt in parts, because this file is judged by the same rules.
const slash = '/';
const todo = ['TO', 'DO'].join('');
const host = ['regis', 'try.np', 'mjs.org'].join('');

const judge = (path: string, text: string): string[] =>
  findUntidy([{ path, text }]).map((problem) => `${problem.path}:${problem.line}: ${problem.message}`);

describe('findUntidy', () => {
  it('has nothing to say about tidy files', () => {
    const lines = ['x'.repeat(120), `// ${todo}(#7): aim`, "import { a } from './agent-registry.js';"];
    const text = [...lines, 'registry.agents.size;', ''].join('\n');
    expect(judge('libs/shared/src/plan/parse-plan.ts', text)).toEqual([]);
    expect(judge('apps/cli/src/commands.ts', 'GET http://a.example/work/1\n../root/x\n')).toEqual([]);
  });

  it('names a line over 120 columns, but not in generated or golden files', () => {
    const text = `short\n${'x'.repeat(121)}\n`;
    expect(judge('apps/cli/src/main.ts', text)).toEqual([
      'apps/cli/src/main.ts:2: 121 columns; the limit is 120',
    ]);
    expect(judge('broadside', text)).toHaveLength(1);
    expect(judge('test/golden/report.ts', text)).toEqual([]);
    expect(judge('docs/x.md', text)).toEqual([]);
  });

  it('names a file over 400 lines, or over 600 when its header has a reason', () => {
    const lines = (count: number): string => 'a\n'.repeat(count);
    expect(judge('a.ts', lines(400))).toEqual([]);
    expect(judge('a.ts', lines(401))).toEqual([
      expect.stringContaining('a.ts:401: 401 lines; the limit is 400'),
    ]);
    const header = '// Long because the states belong on one page.\n';
    expect(judge('a.ts', header + lines(599))).toEqual([]);
    expect(judge('a.ts', header + lines(600))).toEqual([
      expect.stringContaining('601 lines; the limit is 600'),
    ]);
  });

  it('names an open end without the number of an issue', () => {
    expect(judge('a.ts', `a\n// ${todo}: later\n`)).toEqual([
      expect.stringContaining(`a.ts:2: ${todo} without`),
    ]);
    expect(judge('a.ts', `// ${['FIX', 'ME'].join('')}(soon)\n`)).toHaveLength(1);
  });

  it.each([`${slash}work/main`, `${slash}root/x`, `${slash}home/jo/x`, `file://${slash}work/x`])(
    'names the path of one machine: %s',
    (path) => {
      expect(judge('README.md', `see ${path}\n`)).toEqual([expect.stringContaining('path of one machine')]);
    },
  );

  it('names the host of a package registry, in any file', () => {
    for (const path of ['README.md', '.npmrc', 'deploy/docker/a.Dockerfile']) {
      expect(judge(path, `x=https://${host}/\n`)).toEqual([expect.stringContaining('package registry')]);
    }
    expect(judge('.npmrc', `//${['regis', 'try'].join('')}.example.com/:_x\n`)).toHaveLength(1);
  });

  it('names an address in the lock', () => {
    const lock =
      '{\n  "a": { "resolved": "https://mirror.example/a.tgz" },\n  "b": { "resolved": "libs/b" }\n}\n';
    expect(judge('package-lock.json', lock)).toEqual([
      expect.stringContaining('package-lock.json:2: the lock names'),
    ]);
  });

  it.each([
    'apps/cli/src/utils.ts',
    'libs/shared/src/string-helper.ts',
    'libs/common/x.ts',
    'a/slot-manager.test.ts',
  ])('names a file name that says nothing: %s', (path) => {
    expect(judge(path, '')).toEqual([expect.stringContaining('says nothing')]);
  });
});
