// How quickly a command with an embedded cluster is at work: `--version`, the start up to the first request as the
// target sees it, the whole command, and the CPU time it takes. With --against, another checkout takes turns with
// this one, because machines change from minute to minute. Prints markdown tables. Linux; load stays on loopback.
//
// Usage: node test/bench/start.mjs [--rounds 9] [--nice=-20] [--against FOLDER_OF_A_BUILT_CHECKOUT]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { cpus } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/**
 * @typedef {{ versionMs: number, firstRequestMs: number, wholeMs: number, userMs: number, systemMs: number }} Seen
 */

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '9' },
    nice: { type: 'string' },
    against: { type: 'string' },
  },
});
const rounds = Number(values.rounds);
const here = fileURLToPath(new URL('../..', import.meta.url));
const checkouts = [here, ...(values.against === undefined ? [] : [resolve(values.against)])];
/** One tick of the kernel's accounting of CPU time, which is 100 a second on every Linux for programs to read. */
const TICK_MS = 10;
const PATIENCE_MS = 60_000;

/** @type {number | undefined} */
let firstRequestAt;
const target = createServer((_request, response) => {
  firstRequestAt ??= performance.now();
  response.end('x'.repeat(100));
});

/** CPU time of all children that have ended: fields 16 and 17 of proc_pid_stat(5). */
function childrenCpuMs() {
  const text = readFileSync('/proc/self/stat', 'utf8');
  // The second field is a name in brackets, which may hold blanks.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { userMs: Number(fields[13]) * TICK_MS, systemMs: Number(fields[14]) * TICK_MS };
}

/**
 * @param {string} checkout
 * @param {readonly string[]} words
 * @returns {Promise<number>} how long it took, in ms
 */
async function runCommand(checkout, words) {
  const command = [process.execPath, join(checkout, 'apps/cli/dist/main.js'), ...words];
  const [file = '', ...args] = values.nice === undefined ? command : ['nice', '-n', values.nice, ...command];
  const startedAt = performance.now();
  const child = spawn(file, args, { stdio: ['ignore', 'ignore', 'pipe'], timeout: PATIENCE_MS });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += String(chunk);
  });
  const [code] = /** @type {[number | null]} */ (await once(child, 'exit'));
  if (code !== 0) throw new Error(`${words.join(' ')} in ${checkout} ended with ${code}: ${said}`);
  return performance.now() - startedAt;
}

/**
 * @param {string} checkout
 * @param {string} url
 * @returns {Promise<Seen>}
 */
async function measure(checkout, url) {
  const versionMs = await runCommand(checkout, ['--version']);
  const before = childrenCpuMs();
  firstRequestAt = undefined;
  const startedAt = performance.now();
  const wholeMs = await runCommand(checkout, ['ab', '-q', '-n', '10', url]);
  const after = childrenCpuMs();
  return {
    versionMs,
    firstRequestMs: (firstRequestAt ?? Number.NaN) - startedAt,
    wholeMs,
    userMs: after.userMs - before.userMs,
    systemMs: after.systemMs - before.systemMs,
  };
}

/**
 * @param {readonly number[]} numbers
 * @param {number} q
 */
function quantile(numbers, q) {
  const sorted = numbers.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN);
}

/** @param {readonly Seen[]} all */
function table(all) {
  /** @type {(name: string, of: (seen: Seen) => number) => string} */
  const row = (name, of) => {
    const numbers = all.map(of);
    return `| ${name} | ${quantile(numbers, 0.5)} | ${quantile(numbers, 0)} – ${quantile(numbers, 1)} |`;
  };
  return [
    '| ms | median | spread |',
    '| --- | ---: | --- |',
    row('`--version`', (seen) => seen.versionMs),
    row('start to first request', (seen) => seen.firstRequestMs),
    row('whole command', (seen) => seen.wholeMs),
    row('CPU, user', (seen) => seen.userMs),
    row('CPU, system', (seen) => seen.systemMs),
    row('CPU, both', (seen) => seen.userMs + seen.systemMs),
  ].join('\n');
}

target.listen(0, '127.0.0.1');
await once(target, 'listening');
try {
  const { port } = /** @type {import('node:net').AddressInfo} */ (target.address());
  const url = `http://127.0.0.1:${port}/`;
  const results = new Map(checkouts.map((checkout) => [checkout, /** @type {Seen[]} */ ([])]));
  // Once without counting, so that files are in the system's cache for everyone.
  for (const checkout of checkouts) await measure(checkout, url);
  for (let round = 0; round < rounds; round++) {
    // Every other round goes backwards, so that a drift does not always favour the same one.
    for (const checkout of round % 2 === 0 ? checkouts : checkouts.toReversed()) {
      results.get(checkout)?.push(await measure(checkout, url));
    }
  }
  console.log(`${rounds} rounds, ${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}`);
  for (const [checkout, all] of results) {
    console.log(`\n${checkout === here ? 'this checkout' : checkout}\n\n${table(all)}`);
  }
} finally {
  target.close();
  target.closeAllConnections();
}
