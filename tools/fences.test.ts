// Builds a small tree laid out like this repository, with one breach of each fence, and expects to be told
// of every one: a fence that nobody has seen closed is not a fence.

import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { checkFences } from './fences.mjs';

const repository = resolve(import.meta.dirname, '..');
const npmPackages = ['bullmq', 'hdr-histogram-js', 'koffi', 'left-over', 'ws', 'zod'];
const workspacePackages = [
  'apps/agent',
  'apps/cli',
  'apps/console',
  'apps/coordinator',
  'libs/engine',
  'libs/shared',
];

let tree: string | undefined;

afterEach(() => {
  if (tree !== undefined) rmSync(tree, { recursive: true });
  tree = undefined;
});

describe('checkFences', () => {
  it('finds nothing in a tree that keeps to the picture', () => {
    const report = checkFences(
      plant({
        'libs/shared/src/zod-user.ts': "import 'zod'; import 'hdr-histogram-js'; import './sibling.js';",
        'libs/shared/src/sibling.ts': 'export const sibling = 1;',
        'libs/shared/src/sibling.test.ts': "import 'node:crypto'; import './sibling.js';",
        'libs/engine/src/engine.ts': "import 'node:net'; import '@broadside/shared/engine';",
        'libs/engine/src/transport/libc.ts': "import 'koffi';",
        'apps/agent/src/agent.ts': "import '@broadside/shared'; import '@broadside/engine/host';",
        'apps/agent/src/queue/claim.ts': "import 'bullmq';",
        'apps/agent/src/uplink/uplink.ts': "import 'ws';",
        'apps/coordinator/src/queue/shards.ts': "import 'bullmq'; import '@broadside/shared';",
        'apps/coordinator/src/agent/hub.ts': "import 'ws';",
        'apps/coordinator/src/live/feed.ts': "import 'ws';",
        'apps/cli/src/main.ts': "import '@broadside/coordinator'; import '@broadside/agent';",
        'apps/cli/src/client/stream.ts': "import 'ws';",
        'apps/console/src/app.ts': "import '@broadside/shared';",
        'test/run.test.ts':
          "import '@broadside/cli'; import '@broadside/engine'; import 'ws'; import './support.js';",
        'test/support.ts': "import 'bullmq';",
      }),
    );
    expect(report).toEqual({ violations: [], unseen: [], seenCount: 16 });
  });

  const breaches: ReadonlyArray<readonly [rule: string, file: string, imported: string]> = [
    ['shared-imports-none-of-ours', 'libs/shared/src/x.ts', '@broadside/engine'],
    ['shared-imports-none-of-ours', 'libs/shared/src/x.ts', '../../../apps/agent/src/y.js'],
    ['shared-has-no-node', 'libs/shared/src/x.ts', 'node:fs'],
    ['shared-has-no-node', 'libs/shared/src/x.ts', 'fs'],
    ['shared-npm', 'libs/shared/src/x.ts', 'left-over'],
    ['engine-imports-shared-only', 'libs/engine/src/x.ts', '@broadside/agent'],
    ['engine-npm', 'libs/engine/src/x.ts', 'zod'],
    ['engine-loads-no-schemas', 'libs/engine/src/x.ts', '@broadside/shared'],
    ['agent-loads-no-transport', 'apps/agent/src/x.ts', '@broadside/engine'],
    ['agent-imports-shared-and-engine', 'apps/agent/src/x.ts', '@broadside/coordinator'],
    ['coordinator-imports-shared', 'apps/coordinator/src/x.ts', '@broadside/engine'],
    ['coordinator-imports-shared', 'apps/coordinator/src/x.ts', '../../agent/src/y.js'],
    ['cli-imports-shared-coordinator-agent', 'apps/cli/src/x.ts', '@broadside/engine'],
    ['console-imports-shared', 'apps/console/src/x.ts', '@broadside/cli'],
    ['console-has-no-node', 'apps/console/src/x.ts', 'node:path'],
    ['nobody-imports-test', 'apps/cli/src/x.ts', '../../../test/y.js'],
    ['nobody-imports-test', 'libs/shared/src/x.test.ts', '../../../test/y.js'],
    ['one-door-per-package', 'apps/cli/src/x.ts', '../../../libs/shared/src/y.js'],
    ['one-door-per-package', 'apps/agent/src/x.ts', '@broadside/shared/dist/inner.js'],
    ['unresolvable', 'apps/agent/src/x.ts', '@broadside/shared/dist/inner.js'],
    ['unresolvable', 'apps/agent/src/x.ts', './nowhere.js'],
    ['undeclared-dependency', 'apps/cli/src/x.ts', 'left-over'],
    ['only-queue-imports-bullmq', 'apps/coordinator/src/run/x.ts', 'bullmq'],
    ['only-queue-imports-bullmq', 'libs/engine/src/x.ts', 'bullmq'],
    ['only-sockets-import-ws', 'apps/coordinator/src/run/x.ts', 'ws'],
    ['only-sockets-import-ws', 'apps/agent/src/x.ts', 'ws'],
    ['only-transport-imports-koffi', 'libs/engine/src/load/x.ts', 'koffi'],
    ['only-transport-imports-koffi', 'test/x.ts', 'koffi'],
    ['no-circular', 'apps/agent/src/loop.ts', './ring.js'],
  ];

  it('catches one breach of each fence', () => {
    const files: Record<string, string> = {};
    const expected: Array<{ rule: string; from: string }> = [];
    for (const [index, [rule, file, imported]] of breaches.entries()) {
      const unique = file.replace(/\/x(?=[.])/, `/x${index}`);
      // A type-only import is a dependency too, so half of the breaches are of that kind.
      files[unique] = index % 2 === 0 ? `import '${imported}';` : `import type { A } from '${imported}';`;
      expected.push({ rule, from: unique });
    }
    files['apps/agent/src/ring.ts'] = "import './loop.js';";
    for (const path of ['apps/agent/src/y.ts', 'libs/shared/src/y.ts', 'test/y.ts']) {
      files[path] = 'export type A = 1;';
    }
    const report = checkFences(plant(files));
    expect(report.unseen).toEqual([]);
    const found = report.violations.map(({ rule, from }) => ({ rule, from }));
    for (const breach of expected) expect(found).toContainEqual(breach);
    const rules = new Set(found.map(({ rule }) => rule));
    expect([...rules].sort()).toEqual([...new Set(breaches.map(([rule]) => rule))].sort());
  });

  it('sees an import() and a fence broken from inside a function', () => {
    const report = checkFences(
      plant({ 'libs/shared/src/x.ts': "export const late = () => import('node:fs');" }),
    );
    expect(report.violations).toEqual([
      { rule: 'shared-has-no-node', from: 'libs/shared/src/x.ts', to: 'fs' },
    ]);
  });

  it('lets types be re-exported from files of the same package only', () => {
    const report = checkFences(
      plant({
        'apps/cli/src/x.ts':
          "export type { A } from './y.js';\nexport type {\n  B,\n} from '@broadside/engine';",
        'apps/cli/src/y.ts': "export type A = 1;\nexport type * from '../../agent/src/z.js';",
        'apps/agent/src/z.ts': 'export type Z = 1;',
      }),
    );
    expect(report.violations).toEqual([
      { rule: 'import-not-examined', from: 'apps/cli/src/x.ts', to: '@broadside/engine' },
      { rule: 'import-not-examined', from: 'apps/cli/src/y.ts', to: '../../agent/src/z.js' },
    ]);
  });
});

/** Writes the files into a fresh tree with stand-ins for the packages they import. */
function plant(files: Readonly<Record<string, string>>): string {
  tree = mkdtempSync(join(tmpdir(), 'broadside-fences-'));
  cpSync(join(repository, 'tsconfig.base.json'), join(tree, 'tsconfig.base.json'));
  const declared = Object.fromEntries(
    npmPackages.filter((name) => name !== 'left-over').map((name) => [name, '1']),
  );
  for (const name of npmPackages) {
    writeIn(
      tree,
      `node_modules/${name}/package.json`,
      JSON.stringify({ name, version: '1.0.0', main: 'index.js' }),
    );
    writeIn(tree, `node_modules/${name}/index.js`, '');
  }
  mkdirSync(join(tree, 'node_modules/@broadside'));
  for (const folder of workspacePackages) {
    const name = `@broadside/${folder.split('/')[1] ?? ''}`;
    const exports = {
      '.': doorOf('index'),
      ...(folder === 'libs/shared' && { './engine': doorOf('engine') }),
      ...(folder === 'libs/engine' && { './host': doorOf('host') }),
    };
    const ours = Object.fromEntries(
      workspacePackages.map((path) => [`@broadside/${path.split('/')[1] ?? ''}`, '1']),
    );
    const manifest = {
      name,
      version: '1.0.0',
      type: 'module',
      exports,
      dependencies: { ...declared, ...ours },
    };
    writeIn(tree, `${folder}/package.json`, JSON.stringify(manifest));
    for (const file of [
      'index.js',
      'index.d.ts',
      'engine.js',
      'engine.d.ts',
      'host.js',
      'host.d.ts',
      'inner.js',
    ])
      writeIn(tree, `${folder}/dist/${file}`, 'export {};');
    symlinkSync(join(tree, folder), join(tree, 'node_modules', name));
  }
  for (const [path, text] of Object.entries(files)) writeIn(tree, path, text);
  return tree;
}

function doorOf(name: string): { readonly types: string; readonly default: string } {
  return { types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` };
}

function writeIn(root: string, path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}
