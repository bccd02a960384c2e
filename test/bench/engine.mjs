// CPU of the load generator per completed request: the real engine with everything recorded, side by side with
// other load generators, in rounds in which each of them runs once, because machines change from minute to minute.
// The target has core 0 and the generator core 1. Prints markdown tables: medians, and in brackets the middle half
// of the rounds. Linux, with cc and taskset; load stays on loopback.
//
// CPU: of the whole process with all its threads and its start by wait4(2) for the others; for the engine, which
// carries out one shard after the other as an agent's thread does, of the whole process from the order of its second
// shard to the result.
//
// Usage: node test/bench/engine.mjs [--rounds 9] [--seconds 2] [--connections 100] [--against BUILT_CHECKOUT]
//          [--only io_uring,epoll,socket,wrk,ab,hey,h2load,autocannon,loadtest]
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { EngineProcess } from './parts/engine-process.mjs';
import { machineFacts } from './parts/machine-facts.mjs';
import { withTarget } from './parts/programs.mjs';
import { missingRival, RIVALS, runRival } from './parts/rivals.mjs';
import { inTurn, line, median, withSpread } from './parts/statistics.mjs';

/**
 * @typedef {import('./parts/rivals.mjs').Seen} Seen
 * @typedef {import('./parts/engine-process.mjs').TransportName} TransportName
 * @typedef {() => Promise<Seen | undefined>} Contestant undefined: not to be had here
 */

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '9' },
    seconds: { type: 'string', default: '2' },
    connections: { type: 'string', default: '100' },
    only: { type: 'string', default: 'io_uring,epoll,socket,wrk,ab,hey,h2load,autocannon,loadtest' },
    against: { type: 'string' },
  },
});
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const connections = Number(values.connections);
/** Enough for V8 to have compiled what is hot, counted because a busy machine does little in a given time. */
const WARM_UP = { requests: 150_000, durationMs: 10_000 };
/** @type {readonly TransportName[]} */
const TRANSPORTS = ['io_uring', 'epoll', 'socket'];
const AGAINST = ' before';
/** Columns of ratios. */
const COMPARED = ['wrk', 'ab', 'autocannon', 'hey'];

/**
 * @param {TransportName} transport
 * @param {number} port
 * @param {string} [checkout]
 * @returns {Contestant}
 */
function engineContestant(transport, port, checkout) {
  return async () => {
    const engine = new EngineProcess(transport, checkout);
    try {
      if ((await engine.run(port, { connections, ...WARM_UP })) === undefined) return undefined;
      const outcome = await engine.run(port, { connections, durationMs: seconds * 1_000 });
      if (outcome === undefined) return undefined;
      const { counters, userUs, systemUs, elapsedMs, p50Us, p99Us } = outcome;
      const { completed } = counters;
      return { completed, failed: 0, userUs, systemUs, elapsedMs, p50Us, p99Us, peakKib: engine.peakKib() };
    } finally {
      await engine.end();
    }
  };
}

/**
 * @param {string} name
 * @param {number} port
 * @param {string} stopwatch
 * @returns {Promise<Contestant | undefined>}
 */
async function contestantOf(name, port, stopwatch) {
  const transport = TRANSPORTS.find((known) => name === known || name === `${known}${AGAINST}`);
  if (transport !== undefined) {
    const checkout = name.endsWith(AGAINST) ? `${resolve(values.against ?? '')}/` : undefined;
    return engineContestant(transport, port, checkout);
  }
  const rival = RIVALS.get(name);
  const problem = rival === undefined ? 'nobody knows it' : await missingRival(name);
  if (rival === undefined || problem !== '') {
    console.error(`${name} is not to be had here: ${problem}`);
    return undefined;
  }
  const url = `http://127.0.0.1:${port}/100.html`;
  return () => runRival(rival, { connections, seconds, url }, stopwatch);
}

/**
 * The ratio of each round, not of the medians: what slows both down at the same time drops out.
 * @param {ReadonlyMap<string, readonly Seen[]>} results
 * @param {string} name
 * @param {string} rival
 */
function ratioCell(results, name, rival) {
  const [mine, theirs] = [results.get(name), results.get(rival)];
  if (mine === undefined || theirs === undefined || name === rival) return '';
  const cpuUs = (/** @type {Seen | undefined} */ seen) =>
    seen === undefined ? Number.NaN : (seen.userUs + seen.systemUs) / seen.completed;
  return withSpread(mine.map((seen, round) => cpuUs(seen) / cpuUs(theirs[round])));
}

/** @param {ReadonlyMap<string, readonly Seen[]>} results */
function table(results) {
  const compared = [...COMPARED, ...[...results.keys()].filter((name) => name.endsWith(AGAINST))];
  const rivals = compared.filter((name) => results.has(name));
  const head = ['client', 'CPU µs/request', 'user', 'system', 'requests/s', 'p50 µs', 'p99 µs', 'peak MiB'];
  const lines = [
    line(...head, ...rivals.map((name) => `× ${name}`)),
    line('---', ...head.slice(1).map(() => '---:'), ...rivals.map(() => '---')),
  ];
  for (const [name, all] of results) {
    /** @type {(of: (seen: Seen) => number, digits?: number) => string} */
    const middle = (of, digits = 0) => {
      const number = median(all.map(of));
      return Number.isNaN(number) ? 'not told' : number.toFixed(digits);
    };
    const cells = [
      withSpread(all.map((seen) => (seen.userUs + seen.systemUs) / seen.completed)),
      middle((seen) => seen.userUs / seen.completed, 2),
      middle((seen) => seen.systemUs / seen.completed, 2),
      middle((seen) => (seen.completed / seen.elapsedMs) * 1_000),
      middle((seen) => seen.p50Us),
      middle((seen) => seen.p99Us),
      middle((seen) => seen.peakKib / 1_024),
    ];
    lines.push(line(name, ...cells, ...rivals.map((rival) => ratioCell(results, name, rival))));
  }
  return lines.join('\n');
}

/**
 * @param {ReadonlyMap<string, Contestant>} contestants
 * @returns {Promise<ReadonlyMap<string, readonly Seen[]>>}
 */
async function compete(contestants) {
  /** @type {Map<string, Seen[]>} */
  const results = new Map([...contestants.keys()].map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const name of inTurn([...results.keys()], round)) {
      const seen = await contestants.get(name)?.();
      if (seen === undefined) {
        results.delete(name);
        console.error(`${name} is not to be had here`);
        continue;
      }
      if (seen.failed > 0) console.error(`${name}: ${seen.failed} requests failed`);
      results.get(name)?.push(seen);
    }
    console.error(`round ${round + 1} of ${rounds}`);
  }
  return results;
}

console.log(`${connections} connections, ${rounds} rounds of ${seconds} s. ${machineFacts()}\n`);
await withTarget(async ({ port, stopwatch }) => {
  const wanted = values.only.split(',');
  const engines = TRANSPORTS.filter((name) => wanted.includes(name));
  const before = values.against === undefined ? [] : engines.map((name) => `${name}${AGAINST}`);
  /** @type {Map<string, Contestant>} */
  const contestants = new Map();
  for (const name of [...wanted, ...before]) {
    const contestant = await contestantOf(name, port, stopwatch);
    if (contestant !== undefined) contestants.set(name, contestant);
  }
  console.log(table(await compete(contestants)));
});
