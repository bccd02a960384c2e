// CPU of the load generator per completed request: the real engine with everything recorded, side by side with
// wrk and ab, in rounds in which each of them runs once, because machines change from minute to minute.
// Prints a markdown table of medians and spread. Linux, with cc and taskset; load stays on loopback.
//
// Usage: node test/bench/engine.mjs [--rounds 7] [--seconds 4] [--connections 100] [--only epoll,socket,wrk,ab]
//        [--unpinned]
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { shardFor } from '../../libs/engine/dist/testing/run-shard-against.js';

/**
 * @typedef {{ completed: number, userUs: number, systemUs: number, elapsedMs: number }} Seen
 * @typedef {{ cpuUs: number, userUs: number, systemUs: number, rate: number }} Result per request, rate per s
 * @typedef {import('../../libs/engine/dist/transport/transport.js').TransportName} TransportName
 * @typedef {import('../../libs/engine/dist/testing/shard-thread.js').ShardOutcome} ShardOutcome
 * @typedef {import('../../libs/engine/dist/testing/shard-thread.js').ShardReport} ShardReport
 */

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '4' },
    connections: { type: 'string', default: '100' },
    only: { type: 'string', default: 'io_uring,epoll,socket,wrk,ab' },
    unpinned: { type: 'boolean', default: false },
  },
});
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const connections = Number(values.connections);
const run = promisify(execFile);
/** Enough for V8 to have compiled what is hot, counted because a busy machine does little in a given time. */
const WARM_UP = { requests: 150_000, durationMs: 20_000 };
const ENGINE = new URL('../../libs/engine/dist/testing/shard-thread.js', import.meta.url).pathname;
/** @type {readonly TransportName[]} */
const ENGINES = ['io_uring', 'epoll', 'socket'];

/**
 * The target has core 0, the generator core 1, so that neither takes time from the other.
 * @param {number} core
 * @param {readonly string[]} command
 * @returns {[string, string[]]}
 */
function pinned(core, command) {
  const [file = '', ...args] = values.unpinned ? command : ['taskset', '-c', String(core), ...command];
  return [file, args];
}

/**
 * A warm-up, then the run that counts, as an agent's thread carries out one shard after the other.
 * @param {number} port
 * @param {TransportName} transport
 * @returns {Promise<Seen | undefined>} undefined when the transport does not work here
 */
async function runEngine(port, transport) {
  const [file, args] = pinned(1, [process.execPath, ENGINE]);
  const child = spawn(file, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const gone = once(child, 'exit');
  /** @type {(budget: { requests?: number, durationMs: number }) => Promise<ShardOutcome>} */
  const carryOut = async (budget) => {
    const headerLines = [`Host: 127.0.0.1:${port}`];
    const target = { path: '/100.html' };
    const shard = shardFor(port, { target, request: { headerLines }, connections, ...budget });
    child.send({ shard, transport });
    const [report] = /** @type {[ShardReport]} */ (await once(child, 'message'));
    if (!report.ok) throw new Error(report.message);
    if (Object.keys(report.outcome.failures).length > 0) throw new Error('requests failed');
    return report.outcome;
  };
  try {
    await carryOut(WARM_UP);
    const { counters, userUs, systemUs, elapsedMs } = await carryOut({ durationMs: seconds * 1_000 });
    return { completed: counters.completed, userUs, systemUs, elapsedMs };
  } catch (error) {
    if (error instanceof Error && error.message.includes('not used')) return undefined;
    throw error;
  } finally {
    child.disconnect();
    await gone;
  }
}

/**
 * Runs a C tool under the shell's own stopwatch, which counts its CPU time to the millisecond.
 * @param {readonly string[]} command
 * @param {RegExp} completedOf finds the number of completed requests in its report
 * @returns {Promise<Seen>}
 */
async function runTool(command, completedOf) {
  const before = performance.now();
  const [file, args] = pinned(1, command);
  const timed = ['-c', 'TIMEFORMAT="cpu %3U %3S"; time "$@"', 'bash', file, ...args];
  const { stdout, stderr } = await run('bash', timed);
  const elapsedMs = performance.now() - before;
  const [, user, system] = /cpu (\d+\.\d+) (\d+\.\d+)/.exec(stderr) ?? [];
  const completed = Number(completedOf.exec(stdout)?.[1]);
  if (!(completed > 0)) throw new Error(`${command[0]} said: ${stdout}${stderr}`);
  return { completed, userUs: Number(user) * 1e6, systemUs: Number(system) * 1e6, elapsedMs };
}

/**
 * @param {string} name
 * @param {number} port
 */
function runContestant(name, port) {
  const url = `http://127.0.0.1:${port}/100.html`;
  const transport = ENGINES.find((engine) => engine === name);
  if (transport !== undefined) return runEngine(port, transport);
  if (name === 'wrk') {
    const command = ['wrk', '-t1', `-c${connections}`, `-d${seconds}s`, url];
    return runTool(command, /(\d+) requests in/);
  }
  const command = ['ab', '-q', '-k', '-c', connections, '-t', seconds, '-n', '100000000', url].map(String);
  return runTool(command, /Complete requests:\s+(\d+)/);
}

/**
 * @param {readonly number[]} values
 * @param {number} q
 */
function quantile(values, q) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
}

/** @param {string[]} cells */
function line(...cells) {
  return `| ${cells.join(' | ')} |`;
}

/**
 * The ratio of each round, not of the medians: what slows both down at the same time drops out.
 * @param {ReadonlyMap<string, readonly Result[]>} results
 * @param {string} name
 * @param {string} rival
 */
function ratioCells(results, name, rival) {
  const mine = results.get(name);
  const theirs = results.get(rival);
  if (mine === undefined || theirs === undefined || name === rival) return '';
  const ratios = mine.map((result, round) => result.cpuUs / (theirs[round]?.cpuUs ?? Number.NaN));
  const [low, middle, high] = [0, 0.5, 1].map((q) => quantile(ratios, q).toFixed(2));
  return `${middle} (${low} – ${high})`;
}

/** @param {ReadonlyMap<string, readonly Result[]>} results */
function table(results) {
  const lines = [
    line('client', 'CPU µs/request', 'spread', 'user', 'system', 'requests/s', '× wrk', '× ab'),
    line('---', '---:', '---', '---:', '---:', '---:', '---', '---'),
  ];
  for (const [name, all] of results) {
    /** @type {(key: keyof Result, q?: number, digits?: number) => string} */
    const of = (key, q = 0.5, digits = 2) =>
      quantile(
        all.map((result) => result[key]),
        q,
      ).toFixed(digits);
    lines.push(
      line(
        name,
        of('cpuUs'),
        `${of('cpuUs', 0)} – ${of('cpuUs', 1)}`,
        of('userUs'),
        of('systemUs'),
        of('rate', 0.5, 0),
        ratioCells(results, name, 'wrk'),
        ratioCells(results, name, 'ab'),
      ),
    );
  }
  return lines.join('\n');
}

const folder = await mkdtemp(join(tmpdir(), 'broadside-bench-'));
const program = join(folder, 'target');
await run('cc', ['-O2', '-o', program, new URL('target.c', import.meta.url).pathname]);
const [file, args] = pinned(0, [program]);
const target = spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'] });
const gone = once(target, 'exit');
try {
  const [firstLine] = /** @type {[Buffer]} */ (await once(target.stdout, 'data'));
  const port = Number.parseInt(String(firstLine), 10);
  /** @type {Map<string, Result[]>} */
  const results = new Map(values.only.split(',').map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    // Every other round goes backwards, so that a drift does not always favour the same one.
    const names = [...results.keys()];
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const seen = await runContestant(name, port);
      if (seen === undefined) {
        results.delete(name);
        console.error(`${name} is not to be had here`);
        continue;
      }
      const { completed, userUs, systemUs, elapsedMs } = seen;
      results.get(name)?.push({
        cpuUs: (userUs + systemUs) / completed,
        userUs: userUs / completed,
        systemUs: systemUs / completed,
        rate: (completed / elapsedMs) * 1_000,
      });
    }
    console.error(`round ${round + 1} of ${rounds}`);
  }
  console.log(
    `${connections} connections, ${rounds} rounds of ${seconds} s, ${cpus()[0]?.model}, Node ${process.version}\n`,
  );
  console.log(table(results));
} finally {
  target.kill();
  await gone;
  await rm(folder, { recursive: true });
}
