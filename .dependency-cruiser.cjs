// The import fences of docs/ARCHITECTURE.md: an arrow that is not drawn there fails here.
// Run through tools/fences.mjs, which also fails when a source file was not looked at.
// tools/fences.test.ts breaks each rule once and expects to be caught.

const test = '[.]test[.]ts$';
const anyPackage = '^(apps|libs)/|^@broadside/';

/** Files of a workspace package, by path when resolved and by name when not. */
const of = (...folders) =>
  `^(${folders.join('|')})/|^@broadside/(${folders.map((f) => f.split('/')[1]).join('|')})(/|$)`;

/** One npm package, by path when resolved and by name when not. */
const npm = (...names) => `(node_modules/|^)(@types/)?(${names.join('|')})(/|$)`;

const only = (name, allowed, packages) => ({
  name,
  severity: 'error',
  from: { path: '^(apps|libs|test)/', pathNot: allowed },
  to: { path: npm(...packages) },
});

module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    { name: 'unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'undeclared-dependency',
      severity: 'error',
      // The test runner and the types sit in the root package, for all.
      from: { pathNot: `${test}|^test/` },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'], pathNot: '(^|node_modules/)@types/' },
    },
    {
      name: 'shared-imports-none-of-ours',
      severity: 'error',
      from: { path: '^libs/shared/' },
      to: { path: anyPackage, pathNot: '^libs/shared/' },
    },
    {
      name: 'shared-has-no-node',
      severity: 'error',
      from: { path: '^libs/shared/', pathNot: test },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'shared-npm',
      severity: 'error',
      from: { path: '^libs/shared/', pathNot: test },
      to: {
        dependencyTypes: ['npm', 'npm-dev', 'npm-optional', 'npm-peer', 'npm-no-pkg'],
        pathNot: npm('zod', 'hdr-histogram-js', 'ipaddr.js'),
      },
    },
    {
      name: 'engine-imports-shared-only',
      severity: 'error',
      from: { path: '^libs/engine/' },
      to: { path: anyPackage, pathNot: of('libs/engine', 'libs/shared') },
    },
    // Every engine thread would load zod at its start.
    {
      name: 'engine-loads-no-schemas',
      severity: 'error',
      from: {
        path: '^libs/engine/src/|^apps/agent/src/slot/(engine-thread|shard-result)[.]',
        pathNot: `${test}|/testing/`,
      },
      to: { path: '^libs/shared/dist/index[.]' },
    },
    // The main thread of an agent would load every transport and a native library.
    {
      name: 'agent-loads-no-transport',
      severity: 'error',
      from: {
        path: '^apps/agent/src/',
        pathNot: `${test}|^apps/agent/src/(slot/(engine-thread|shard-result)|machine/examine-machine)[.]`,
      },
      to: { path: '^libs/engine/dist/index[.]' },
    },
    {
      name: 'engine-npm',
      severity: 'error',
      from: { path: '^libs/engine/', pathNot: test },
      to: {
        dependencyTypes: ['npm', 'npm-dev', 'npm-optional', 'npm-peer', 'npm-no-pkg'],
        pathNot: `${npm('koffi')}|${of('libs/shared')}`,
      },
    },
    {
      name: 'agent-imports-shared-and-engine',
      severity: 'error',
      from: { path: '^apps/agent/' },
      to: { path: anyPackage, pathNot: of('apps/agent', 'libs/shared', 'libs/engine') },
    },
    {
      name: 'coordinator-imports-shared',
      severity: 'error',
      from: { path: '^apps/coordinator/' },
      to: { path: anyPackage, pathNot: of('apps/coordinator', 'libs/shared') },
    },
    {
      name: 'cli-imports-shared-coordinator-agent',
      severity: 'error',
      from: { path: '^apps/cli/' },
      to: { path: anyPackage, pathNot: of('apps/cli', 'apps/coordinator', 'apps/agent', 'libs/shared') },
    },
    {
      name: 'console-imports-shared',
      severity: 'error',
      from: { path: '^apps/console/' },
      to: { path: anyPackage, pathNot: of('apps/console', 'libs/shared') },
    },
    {
      name: 'console-has-no-node',
      severity: 'error',
      from: { path: '^apps/console/src/' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'nobody-imports-test',
      severity: 'error',
      from: { path: '^(apps|libs)/' },
      to: { path: '^(test|tools)/|^@broadside/test' },
    },
    {
      name: 'one-door-per-package',
      severity: 'error',
      from: { path: '^(apps|libs)/([^/]+)/' },
      to: {
        path: '^(apps|libs)/[^/]+/|^@broadside/[^/]+/',
        pathNot: [
          '^$1/$2/',
          '^(apps|libs)/[^/]+/dist/index[.](js|d[.]ts)$',
          '^libs/(shared/dist/engine|engine/dist/host)[.](js|d[.]ts)$',
        ],
      },
    },
    only('only-queue-imports-bullmq', '^apps/(coordinator|agent)/src/queue/|^test/', ['bullmq']),
    only(
      'only-sockets-import-ws',
      '^apps/agent/src/uplink/|^apps/coordinator/src/(agent|live)/|^apps/cli/src/client/|^test/',
      ['ws'],
    ),
    only('only-transport-imports-koffi', '^libs/engine/src/transport/', ['koffi']),
  ],
  options: {
    doNotFollow: { path: '(^|/)(node_modules|dist)/' },
    exclude: { path: '(^|/)coverage/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'types', 'node', 'default'],
    },
  },
};
