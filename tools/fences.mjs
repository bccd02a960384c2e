// Checks the import fences of .dependency-cruiser.cjs, and that every source file was really looked at:
// the cruiser reports success over zero modules when it cannot read TypeScript.
//
// Usage: node tools/fences.mjs [folder of the repository]

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const cruiser = join(repository, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
const roots = ['apps', 'libs', 'test'];

/**
 * @typedef {{ rule: string, from: string, to: string }} FenceViolation
 * @typedef {{ violations: FenceViolation[], unseen: string[], seenCount: number }} FenceReport
 * @typedef {{ source: string, dependencies: { module: string }[] }} CruisedModule
 * @typedef {{ rule: { name: string }, from: string, to: string }} CruisedViolation
 * @typedef {{ modules: CruisedModule[], summary: { violations: CruisedViolation[] } }} CruiseResult
 */

/**
 * @param {string} folder root of a tree laid out like this repository
 * @returns {FenceReport} what is forbidden, and which source files were not examined
 */
export function checkFences(folder) {
  const present = roots.filter((root) => existsSync(join(folder, root)));
  const { modules, summary } = cruise(folder, present);
  const seen = new Map(modules.map(({ source, dependencies }) => [source, dependencies]));
  const files = present
    .flatMap((root) => sourceFiles(join(folder, root)))
    .map((path) => relative(folder, path));
  const violations = summary.violations.map(({ rule, from, to }) => ({ rule: rule.name, from, to }));
  for (const file of files) {
    const known = new Set(seen.get(file)?.map(({ module }) => bareName(module)));
    for (const to of importedNames(readFileSync(join(folder, file), 'utf8'))) {
      if (!known.has(bareName(to)) && !isOwnFile(file, to))
        violations.push({ rule: 'import-not-examined', from: file, to });
    }
  }
  return { violations, unseen: files.filter((file) => !seen.has(file)), seenCount: files.length };
}

/**
 * @param {string} folder
 * @param {string[]} present
 * @returns {CruiseResult}
 */
function cruise(folder, present) {
  const config = join(repository, '.dependency-cruiser.cjs');
  const args = [cruiser, '--config', config, '--output-type', 'json', ...present];
  const run = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8', maxBuffer: 1 << 28 });
  // With json output violations do not change the exit code, so any other code is a broken run.
  if (run.status !== 0) {
    throw new Error(`dependency-cruiser failed (exit ${run.status}): ${run.stderr || run.stdout}`);
  }
  return JSON.parse(run.stdout);
}

/**
 * The names that import and export statements of formatted source ask for. A second, plain reading beside
 * the cruiser's own, because that one passes over `export type … from`.
 * @param {string} text
 * @returns {string[]}
 */
function importedNames(text) {
  const statement = /^(?:import|export|\})(?:[^'"\n]* from)? ['"]([^'"\n]+)['"];?$/gm;
  return [...text.matchAll(statement)].map((match) => match[1] ?? '');
}

/**
 * The cruiser says `fs` where the source says `node:fs`.
 * @param {string} name
 */
function bareName(name) {
  return name.replace(/^node:/, '');
}

/**
 * Whether a relative name stays inside the workspace package (or top folder) of the file that asks for it.
 * @param {string} file
 * @param {string} name
 */
function isOwnFile(file, name) {
  if (!name.startsWith('.')) return false;
  const home = file
    .split('/')
    .slice(0, file.startsWith('test/') ? 1 : 2)
    .join('/');
  return join(dirname(file), name).startsWith(`${home}/`);
}

/**
 * @param {string} folder
 * @returns {string[]}
 */
function sourceFiles(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      return entry.name === 'node_modules' || entry.name === 'dist' ? [] : sourceFiles(path);
    }
    return /[.]tsx?$/.test(entry.name) && !entry.name.endsWith('.d.ts') ? [path] : [];
  });
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const { violations, unseen, seenCount } = checkFences(process.argv[2] ?? repository);
  for (const { rule, from, to } of violations) console.error(`${from}: ${rule} (imports ${to})`);
  for (const file of unseen) console.error(`${file}: not examined by dependency-cruiser`);
  if (seenCount === 0) console.error('fences: found no source file to examine');
  if (violations.length > 0 || unseen.length > 0 || seenCount === 0) process.exitCode = 1;
  else console.log(`fences: ${seenCount} files, no forbidden import`);
}
