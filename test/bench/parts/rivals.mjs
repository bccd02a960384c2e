// The other load generators: how each is called for so many connections and seconds, and what its report says.
// wrk, ab, hey and h2load come with the system; autocannon and loadtest are fetched by npm into a folder of the
// user's cache the first time they are wanted, and are no dependencies of this project.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { GENERATOR_CORE, pinned } from './programs.mjs';

/**
 * @typedef {{ connections: number, seconds: number, url: string }} Job
 * @typedef {{ completed: number, failed: number, p50Us: number, p99Us: number }} Report NaN: the tool does not say
 * @typedef {{ command: (job: Job) => readonly (string | number)[], read: (text: string) => Report }} Rival
 * @typedef {Report & { userUs: number, systemUs: number, elapsedMs: number, peakKib: number }} Seen
 */

const run = promisify(execFile);
const UNITS = { us: 1, ms: 1_000, s: 1_000_000 };
const FETCHED = { autocannon: '9.0.0', loadtest: '8.2.1' };
const FOLDER = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'broadside-bench');

/**
 * @param {string} text
 * @param {RegExp} pattern
 * @returns {number} its first group, in µs where the second is a unit; NaN when it is not there
 */
function find(text, pattern) {
  const [, digits, unit] = pattern.exec(text) ?? [];
  // The patterns let no other units through.
  const factor = unit === undefined ? 1 : UNITS[/** @type {keyof typeof UNITS} */ (unit)];
  return digits === undefined ? Number.NaN : Number(digits) * factor;
}

/**
 * @param {string} text
 * @param {RegExp} pattern with the flag g
 */
function sum(text, pattern) {
  return [...text.matchAll(pattern)].reduce((total, [, digits]) => total + Number(digits), 0);
}

/** @type {Rival} */
const wrk = {
  command: ({ connections, seconds, url }) => {
    return ['wrk', '-t1', `-c${connections}`, `-d${seconds}s`, '--latency', url];
  },
  read: (text) => ({
    completed: find(text, /(\d+) requests in/),
    failed: sum(text, /(?:connect|read|write|timeout|responses:) (\d+)/g),
    p50Us: find(text, /50%\s+([\d.]+)(us|ms|s)/),
    p99Us: find(text, /99%\s+([\d.]+)(us|ms|s)/),
  }),
};

/** @type {Rival} */
const ab = {
  command: ({ connections, seconds, url }) => {
    return ['ab', '-q', '-k', '-c', connections, '-t', seconds, '-n', 100_000_000, url];
  },
  read: (text) => ({
    completed: find(text, /Complete requests:\s+(\d+)/),
    failed: sum(text, /(?:Failed requests|Non-2xx responses):\s+(\d+)/g),
    p50Us: find(text, /50%\s+(\d+)/) * 1_000,
    p99Us: find(text, /99%\s+(\d+)/) * 1_000,
  }),
};

/** @type {Rival} */
const hey = {
  command: ({ connections, seconds, url }) => ['hey', '-z', `${seconds}s`, '-c', connections, url],
  read: (text) => ({
    completed: find(text, /\[200\]\s+(\d+) responses/),
    failed: sum(text, /^\s+\[(?!200\])\d+\]\s+(\d+)/gm),
    p50Us: find(text, /50% in ([\d.]+) secs/) * 1e6,
    p99Us: find(text, /99% in ([\d.]+) secs/) * 1e6,
  }),
};

/** @type {Rival} */
const h2load = {
  command: ({ connections, seconds, url }) => {
    return ['h2load', '--h1', '-t1', `-c${connections}`, `-D${seconds}`, url];
  },
  read: (text) => ({
    completed: find(text, /(\d+) succeeded/),
    failed: sum(text, /(\d+) (?:failed|errored|timeout)/g),
    // It tells the least, the largest and the mean only.
    p50Us: Number.NaN,
    p99Us: Number.NaN,
  }),
};

/**
 * @param {keyof typeof FETCHED} name
 * @param {readonly (string | number)[]} words
 */
const fetched = (name, ...words) => [join(FOLDER, 'node_modules/.bin', name), ...words];

/** @type {Rival} */
const autocannon = {
  command: ({ connections, seconds, url }) => {
    return fetched('autocannon', '-j', '-c', connections, '-d', seconds, url);
  },
  read: (text) => ({
    completed: find(text, /"2xx":(\d+)/),
    failed: sum(text, /"(?:errors|timeouts|mismatches|non2xx)":(\d+)/g),
    p50Us: find(text, /"latency":\{.*?"p50":([\d.]+)/) * 1_000,
    p99Us: find(text, /"latency":\{.*?"p99":([\d.]+)/) * 1_000,
  }),
};

/** @type {Rival} */
const loadtest = {
  command: ({ connections, seconds, url }) => {
    return fetched('loadtest', '--tcp', '--cores', 1, '-k', '-c', connections, '-t', seconds, url);
  },
  read: (text) => ({
    completed: find(text, /Completed requests:\s+(\d+)/),
    failed: sum(text, /Total errors:\s+(\d+)/g),
    p50Us: find(text, /50%\s+(\d+) ms/) * 1_000,
    p99Us: find(text, /99%\s+(\d+) ms/) * 1_000,
  }),
};

/** @type {ReadonlyMap<string, Rival>} */
export const RIVALS = new Map(Object.entries({ wrk, ab, hey, h2load, autocannon, loadtest }));

/**
 * Makes sure that a rival can be called.
 * @param {string} name
 * @returns {Promise<string>} why it is not to be had here; empty when it is
 */
export async function missingRival(name) {
  if (name !== 'autocannon' && name !== 'loadtest') {
    // Each of them says something and ends, whatever it thinks of the option.
    const error = await run(name, ['--version']).then(
      () => undefined,
      (/** @type {{ code?: unknown }} */ thrown) => thrown,
    );
    return error?.code === 'ENOENT' ? 'it is not installed' : '';
  }
  if (existsSync(join(FOLDER, 'node_modules/.bin', name))) return '';
  await mkdir(FOLDER, { recursive: true });
  const flags = ['--prefix', FOLDER, '--ignore-scripts', '--no-audit', '--no-fund'];
  return run('npm', ['install', ...flags, `${name}@${FETCHED[name]}`]).then(
    () => '',
    (error) => String(error).split('\n').slice(0, 3).join(' '),
  );
}

/**
 * Runs a rival under the stopwatch. Its CPU time is that of the whole process, start-up and all its threads included.
 * @param {Rival} rival
 * @param {Job} job
 * @param {string} stopwatch
 * @returns {Promise<Seen>}
 */
export async function runRival(rival, job, stopwatch) {
  const command = rival.command(job).map(String);
  const before = performance.now();
  const [file, args] = pinned(GENERATOR_CORE, command);
  const { stdout, stderr } = await run(stopwatch, [file, ...args], { maxBuffer: 2 ** 26 });
  const elapsedMs = performance.now() - before;
  const report = rival.read(`${stdout}\n${stderr}`);
  const [, user, system, peakKib] = /stopwatch (\d+) (\d+) (\d+)/.exec(stderr) ?? [];
  if (!(report.completed > 0)) throw new Error(`${command[0]} said: ${stdout}${stderr}`);
  return {
    ...report,
    userUs: Number(user),
    systemUs: Number(system),
    elapsedMs,
    peakKib: Number(peakKib),
  };
}
