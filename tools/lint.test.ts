// One breach of each lint rule that our conventions rest on, and the rule that must name it. A rule that is
// misspelt in .oxlintrc.json is passed over without a word, so only being caught proves that it is on.

import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const repository = resolve(import.meta.dirname, '..');

const longFunction = `export function long(): number {\n  let a = 0;\n${'  a += 1;\n'.repeat(60)}  return a;\n}\n`;

/** Rule, file, and the text that breaks it. */
const breaches: ReadonlyArray<readonly [rule: string, file: string, text: string]> = [
  ['no-explicit-any', 'apps/cli/src/a.ts', 'export const a = (b: any): unknown => b;'],
  ['no-non-null-assertion', 'apps/cli/src/b.ts', 'export const a = (b: string | undefined): string => b!;'],
  [
    'no-floating-promises',
    'apps/cli/src/c.ts',
    'export function a(b: Promise<void>): void {\n  b.then(() => 1);\n}',
  ],
  [
    'no-misused-promises',
    'apps/cli/src/d.ts',
    'export const a = (b: Promise<boolean>): number => (b ? 1 : 2);',
  ],
  [
    'switch-exhaustiveness-check',
    'apps/cli/src/e.ts',
    "export function a(b: 'x' | 'y'): number {\n  switch (b) {\n    case 'x':\n      return 1;\n  }\n  return 2;\n}",
  ],
  ['no-unsafe-assignment', 'apps/cli/src/f.ts', "export const a: { b: string } = JSON.parse('1');"],
  ['no-unsafe-member-access', 'apps/cli/src/g.ts', "export const a: unknown = JSON.parse('1').b;"],
  ['only-throw-error', 'apps/cli/src/h.ts', "export function a(): never {\n  throw 'text';\n}"],
  ['eqeqeq', 'apps/cli/src/i.ts', 'export const a = (b: number): boolean => b == 1;'],
  [
    'no-empty',
    'apps/cli/src/j.ts',
    'export function a(b: () => void): void {\n  try {\n    b();\n  } catch {}\n}',
  ],
  [
    'no-lone-blocks',
    'apps/cli/src/k.ts',
    'export function a(b: number): number {\n  {\n    b += 1;\n  }\n  return b;\n}',
  ],
  ['no-default-export', 'apps/cli/src/l.ts', 'export default 1;'],
  ['filename-case', 'apps/cli/src/camelCase.ts', 'export const a = 1;'],
  [
    'max-params',
    'apps/cli/src/m.ts',
    'export const a = (b: 1, c: 1, d: 1, e: 1, f: 1): number => b + c + d + e + f;',
  ],
  ['max-lines-per-function', 'apps/cli/src/n.ts', longFunction],
  ['no-restricted-globals', 'libs/shared/src/o.ts', "export const a = Buffer.from('x');"],
  [
    'no-focused-tests',
    'apps/cli/src/p.test.ts',
    "import { expect, it } from 'vitest';\nit.only('x', () => {\n  expect(1).toBe(1);\n});",
  ],
];

const clean: ReadonlyArray<readonly [file: string, text: string]> = [
  [
    'apps/coordinator/src/five.ts',
    'export const a = (b: 1, c: 1, d: 1, e: 1, f: 1): number => b + c + d + e + f;',
  ],
  ['apps/cli/src/buffer.ts', "export const a = Buffer.from('x');"],
  [
    'apps/cli/src/long.test.ts',
    `import { expect, it } from 'vitest';\nit('is long', () => {\n${'  expect(1).toBe(1);\n'.repeat(70)}});\n`,
  ],
];

interface Finding {
  readonly code: string;
  readonly filename: string;
}

describe('.oxlintrc.json', () => {
  let folder: string;
  let findings: readonly Finding[];

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'broadside-lint-'));
    for (const name of ['.oxlintrc.json', 'tsconfig.base.json'])
      cpSync(join(repository, name), join(folder, name));
    symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'));
    writeFileSync(
      join(folder, 'tsconfig.json'),
      '{ "extends": "./tsconfig.base.json", "include": ["apps", "libs"] }',
    );
    for (const [, file, text] of breaches) plant(folder, file, text);
    for (const [file, text] of clean) plant(folder, file, text);
    const oxlint = join(repository, 'node_modules/oxlint/bin/oxlint');
    const args = [oxlint, '--type-aware', '--format=json', 'apps', 'libs'];
    const run = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
    const report = JSON.parse(run.stdout) as { diagnostics: Finding[] }; // Its documented JSON format.
    findings = report.diagnostics;
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each(breaches)('%s is on', (rule, file) => {
    const codes = findings.filter((finding) => finding.filename === file).map((finding) => finding.code);
    expect(codes).toContainEqual(expect.stringContaining(`(${rule})`));
  });

  it('has nothing to say where an exception was made', () => {
    const files = clean.map(([file]) => file);
    expect(findings.filter((finding) => files.includes(finding.filename))).toEqual([]);
  });
});

function plant(folder: string, file: string, text: string): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), `${text}\n`);
}
