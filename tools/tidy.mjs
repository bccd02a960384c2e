// Our own small rules, those that no linter knows. Each is one function from a file to its problems;
// tools/tidy.test.ts breaks each once. Dead code is knip's, function length and unused names are oxlint's.
//
// Usage: node tools/tidy.mjs

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const LINE_LIMIT_CHARS = 120;
const FILE_LIMIT_LINES = 400;
const EXPLAINED_FILE_LIMIT_LINES = 600;
const HEADER_LINES = 10;

/**
 * @typedef {{ path: string, text: string }} TrackedFile
 * @typedef {{ path: string, line: number, message: string }} TidyProblem
 */

const codeFile = /[.](ts|tsx|mjs|cjs|js|css|sh|sql|yaml|yml)$|(^|[/])(broadside|run)$/;
const sourceFile = /[.](ts|tsx|mjs|cjs|js)$/;
const generatedFile =
  /(^|[/])(golden|generated|__snapshots__)[/]|[.](golden|generated)[.]|(^|[/])package-lock[.]json$/;
const vagueWord = /^(utils?|helpers?|common|misc|managers?)$/;

// Spelt in parts, so that this file does not break its own rules.
const registryHost = new RegExp(
  [
    `${'npm'}js`,
    `${'yarn'}pkg[.]com`,
    `(^|[^\\w.])${'regis'}try[.][a-z0-9-]+[.](org|com|net|io|dev)\\b`,
  ].join('|'),
  'i',
);
const machinePath = new RegExp(`(?<![\\w.])/(${'wo'}rk|${'ro'}ot|${'ho'}me/[a-z]\\w*)/`);
const openEnd = new RegExp(`\\b(${'TO'}DO|${'FIX'}ME|${'XX'}X)\\b(?![(]#\\d+[)])`);

/** @type {((file: TrackedFile) => TidyProblem[])[]} */
const rules = [longLines, longFile, openEnds, machinePaths, registryHosts, lockedAddresses, vagueNames];

/**
 * Everything untidy in these files, in their order. Paths are relative to the repository.
 * @param {readonly TrackedFile[]} files
 * @returns {TidyProblem[]}
 */
export function findUntidy(files) {
  return files.flatMap((file) => rules.flatMap((rule) => rule(file)));
}

/** @param {TrackedFile} file */
function longLines({ path, text }) {
  if (!codeFile.test(path) || generatedFile.test(path)) return [];
  return eachLine(path, text, (line) =>
    line.length > LINE_LIMIT_CHARS ? `${line.length} columns; the limit is ${LINE_LIMIT_CHARS}` : undefined,
  );
}

/** @param {TrackedFile} file */
function longFile({ path, text }) {
  if (!sourceFile.test(path) || generatedFile.test(path)) return [];
  const lines = text.split('\n');
  const count = text.endsWith('\n') ? lines.length - 1 : lines.length;
  const isExplained = lines
    .slice(0, HEADER_LINES)
    .some((line) => /^(\/\/|\s*\*|\/\*).*\blong because\b/i.test(line));
  const limit = isExplained ? EXPLAINED_FILE_LIMIT_LINES : FILE_LIMIT_LINES;
  if (count <= limit) return [];
  const advice = isExplained ? 'split it' : 'split it, or say "Long because …" in the header for up to 600';
  return [{ path, line: limit + 1, message: `${count} lines; the limit is ${limit}: ${advice}` }];
}

/** @param {TrackedFile} file */
function openEnds({ path, text }) {
  if (!codeFile.test(path)) return [];
  return eachLine(path, text, (line) => {
    const word = openEnd.exec(line)?.[1];
    return word === undefined ? undefined : `${word} without the number of an issue: write ${word}(#12)`;
  });
}

/** @param {TrackedFile} file */
function machinePaths({ path, text }) {
  return eachLine(path, text, (line) => {
    const found = machinePath.exec(line)?.[0];
    return found === undefined ? undefined : `path of one machine: ${found}`;
  });
}

/** @param {TrackedFile} file */
function registryHosts({ path, text }) {
  return eachLine(path, text, (line) =>
    registryHost.test(line)
      ? 'names the host of a package registry, which is the business of the user'
      : undefined,
  );
}

/** @param {TrackedFile} file */
function lockedAddresses({ path, text }) {
  if (!/(^|[/])package-lock[.]json$/.test(path)) return [];
  return eachLine(path, text, (line) =>
    /"resolved"\s*:\s*"(git[+])?https?:/.test(line)
      ? 'the lock names an address: npm config set omit-lockfile-registry-resolved true, and lock again'
      : undefined,
  );
}

/** @param {TrackedFile} file */
function vagueNames({ path }) {
  const word = path.split(/[/.-]/).find((part) => vagueWord.test(part));
  return word === undefined
    ? []
    : [{ path, line: 1, message: `"${word}" says nothing: name it after what it holds` }];
}

/**
 * @param {string} path
 * @param {string} text
 * @param {(line: string) => string | undefined} judge
 * @returns {TidyProblem[]}
 */
function eachLine(path, text, judge) {
  return text.split('\n').flatMap((line, index) => {
    const message = judge(line);
    return message === undefined ? [] : [{ path, line: index + 1, message }];
  });
}

/**
 * Tracked files and new ones that are not ignored; binary files have no lines to judge.
 * @param {string} folder
 * @returns {TrackedFile[]}
 */
function trackedFiles(folder) {
  // A clone made by another account, as in CI, is still ours to read.
  const args = ['-c', 'safe.directory=*', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const names = execFileSync('git', args, { cwd: folder, encoding: 'utf8', maxBuffer: 1 << 26 }).split('\0');
  return [...new Set(names)].flatMap((path) => {
    const absolute = resolve(folder, path);
    if (path === '' || !existsSync(absolute) || !statSync(absolute).isFile()) return [];
    const bytes = readFileSync(absolute);
    return bytes.includes(0) ? [{ path, text: '' }] : [{ path, text: bytes.toString('utf8') }];
  });
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const files = trackedFiles(resolve(dirname(fileURLToPath(import.meta.url)), '..'));
  const problems = findUntidy(files);
  for (const { path, line, message } of problems) console.error(`${path}:${line}: ${message}`);
  if (problems.length > 0 || files.length === 0) process.exitCode = 1;
  else console.log(`tidy: ${files.length} files`);
}
