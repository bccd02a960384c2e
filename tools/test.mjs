// `npm test`: everything from set-up to the closing line, on a fresh clone and on a developer's machine alike.
//
// Usage: npm test                  all checks and all tests
//        npm test -- ARGUMENTS     tests only, the arguments handed to Vitest (a file name, -t TITLE …)

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { closingLine, tallyReport } from './closing-line.mjs';
import { installMissingPrograms, thisMachine } from './debian-packages.mjs';
import { isInstalled } from './installed.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const reportPath = join(root, '.cache', 'vitest.json');
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const checks = ['format:check', 'lint', 'typecheck', 'dead-code', 'tidy'];
const environment = { ...process.env, NX_ISOLATE_PLUGINS: 'false', DEBIAN_FRONTEND: 'noninteractive' };

/** Vitest answers in two seconds; one that does not is left to say what it has to say itself. */
const LISTING_TIMEOUT_MS = 60_000;

const given = process.argv.slice(2);
const asksOnly = given.some((word) => ['--help', '-h'].includes(word));
process.exitCode = (asksOnly ? askVitest(given) : main(given)) ? 0 : 1;

/**
 * Vitest lists its options itself; nothing is built for them.
 * @param {string[]} vitestArguments
 */
function askVitest(vitestArguments) {
  if (!isInstalled(root)) return giveUp('nothing is installed yet; run `npm ci` first');
  return run(process.execPath, [vitest, 'run', ...vitestArguments]);
}

/**
 * @param {string[]} vitestArguments
 * @returns {boolean} whether everything passed
 */
function main(vitestArguments) {
  if (!isInstalled(root)) {
    announce('npm ci');
    if (!run('npm', ['ci', '--include=dev', '--no-audit', '--no-fund'])) return giveUp('npm ci failed');
  }
  const mistake = vitestArguments.length === 0 ? undefined : mistakeIn(vitestArguments);
  if (mistake !== undefined) return giveUp(mistake);
  const note = installMissingPrograms(thisMachine(run));
  announce('build');
  if (!run('npm', ['run', '--silent', 'build'])) return giveUp('the build failed');

  const tally = { passed: 0, failed: 0, skipped: 0 };
  const failedChecks = [];
  for (const check of vitestArguments.length === 0 ? checks : []) {
    announce(check);
    if (run('npm', ['run', '--silent', check])) tally.passed += 1;
    else failedChecks.push(check);
  }
  announce('tests');
  const tests = runTests(vitestArguments);

  // Notes come last, where they are read; the closing line stands alone behind them.
  if (note !== undefined) console.log(`npm test: ${note}`);
  if (failedChecks.length > 0) console.log(`npm test: failed checks: ${failedChecks.join(', ')}`);
  tally.passed += tests.passed;
  tally.failed += tests.failed + failedChecks.length;
  tally.skipped += tests.skipped;
  console.log(closingLine(tally));
  return tally.failed === 0;
}

/**
 * What Vitest thinks of its arguments, before anything is built for them: it would show a mistake with its own stack.
 * @param {string[]} vitestArguments
 * @returns {string | undefined} one line, undefined when it would take them
 */
function mistakeIn(vitestArguments) {
  const asked = spawnSync(process.execPath, [vitest, 'list', '--filesOnly', ...vitestArguments], {
    cwd: root,
    env: { ...environment, NO_COLOR: '1' },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: LISTING_TIMEOUT_MS,
  });
  if (asked.status === 0 || asked.status === null) return undefined;
  const reason = /^\w*Error: (.+)$/m.exec(asked.stderr)?.[1] ?? 'it does not say why';
  return `Vitest does not take ${vitestArguments.join(' ')}: ${reason}`;
}

/** @param {string[]} vitestArguments */
function runTests(vitestArguments) {
  mkdirSync(dirname(reportPath), { recursive: true });
  rmSync(reportPath, { force: true });
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportPath}`];
  // Without a complaint from Vitest about no tests, a wrong name and a Vitest that cannot run are told apart.
  const options = [...reporters, '--passWithNoTests', ...vitestArguments];
  const isSuccess = run(process.execPath, [vitest, 'run', ...options]);
  const tally = readTally();
  if (tally === undefined || tally.passed + tally.failed + tally.skipped === 0) {
    const what = vitestArguments.join(' ');
    console.log(
      isSuccess
        ? `npm test: no test file matches ${what}`
        : `npm test: Vitest could not run${what === '' ? '' : ` with ${what}`}; it says why above`,
    );
    return { passed: 0, failed: 1, skipped: 0 };
  }
  // An error outside of any test, or no test at all, shows in the exit code alone.
  if (!isSuccess && tally.failed === 0) tally.failed = 1;
  return tally;
}

/** What Vitest reported; undefined when it ran nothing. */
function readTally() {
  if (!existsSync(reportPath)) return undefined;
  try {
    return tallyReport(JSON.parse(readFileSync(reportPath, 'utf8')));
  } catch (error) {
    console.log(
      `npm test: the report of Vitest cannot be read (${error instanceof Error ? error.message : String(error)})`,
    );
    return { passed: 0, failed: 1, skipped: 0 };
  }
}

/** @param {string} reason */
function giveUp(reason) {
  console.log(`npm test: ${reason}; nothing was tested`);
  console.log(closingLine({ passed: 0, failed: 1, skipped: 0 }));
  return false;
}

/** @param {string} title */
function announce(title) {
  console.log(`\n== ${title}`);
}

/**
 * @param {string} command
 * @param {string[]} args
 * @returns {boolean} whether it ended with exit code 0
 */
function run(command, args) {
  const result = spawnSync(command, args, {
    cwd: root,
    env: environment,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (result.error !== undefined) console.log(`npm test: cannot run ${command}: ${result.error.message}`);
  return result.status === 0;
}
