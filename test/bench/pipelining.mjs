// What pipelining gains: requests per second at depth 16 against depth 1 of the same engine, in alternating rounds of
// the same process. Goal: 6 times. The target has core 0, the engine core 1. Linux, with cc and taskset; load stays on
// loopback.
//
// Usage: node test/bench/pipelining.mjs [--rounds 9] [--seconds 1] [--connections 100] [--depth 16]
import { parseArgs } from 'node:util';
import { EngineProcess } from './parts/engine-process.mjs';
import { machineFacts } from './parts/machine-facts.mjs';
import { withTarget } from './parts/programs.mjs';
import { inTurn, line, withSpread } from './parts/statistics.mjs';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '9' },
    seconds: { type: 'string', default: '1' },
    connections: { type: 'string', default: '100' },
    depth: { type: 'string', default: '16' },
  },
});
const [rounds, seconds, connections, depth] = [
  values.rounds,
  values.seconds,
  values.connections,
  values.depth,
].map(Number);

/** @typedef {{ rate: number, cpuUs: number }} Seen */

/**
 * @param {import('./parts/engine-process.mjs').TransportName} transport
 * @param {number} port
 */
async function measure(transport, port) {
  const engine = new EngineProcess(transport);
  /** @type {Map<number, Seen[]>} */
  const seen = new Map([1, depth ?? 1].map((pipeline) => [pipeline, []]));
  try {
    for (let round = -1; round < (rounds ?? 0); round++) {
      for (const pipeline of inTurn([...seen.keys()], round)) {
        const durationMs = (seconds ?? 1) * 1_000;
        const outcome = await engine.run(port, { connections: connections ?? 1, pipeline, durationMs });
        if (outcome === undefined) return undefined;
        const { counters, userUs, systemUs, elapsedMs } = outcome;
        const { completed } = counters;
        // The first round is for V8 to compile what is hot.
        const result = { rate: (completed / elapsedMs) * 1_000, cpuUs: (userUs + systemUs) / completed };
        if (round >= 0) seen.get(pipeline)?.push(result);
      }
    }
  } finally {
    await engine.end();
  }
  return seen;
}

console.log(`${connections} connections, ${rounds} rounds of ${seconds} s. ${machineFacts()}\n`);
const head = [
  'transport',
  'requests/s, depth 1',
  `depth ${depth}`,
  'times',
  'CPU µs/request, depth 1',
  `depth ${depth}`,
];
console.log(`${line(...head)}\n${line('---', ...head.slice(1).map(() => '---'))}`);
await withTarget(async ({ port }) => {
  for (const transport of /** @type {const} */ (['io_uring', 'epoll', 'socket'])) {
    const seen = await measure(transport, port);
    const [one, deep] = [seen?.get(1) ?? [], seen?.get(depth ?? 1) ?? []];
    const times = deep.map((result, round) => result.rate / (one[round]?.rate ?? Number.NaN));
    console.log(
      line(
        transport,
        ...[one, deep].map((all) =>
          withSpread(
            all.map(({ rate }) => rate),
            0,
          ),
        ),
        withSpread(times),
        ...[one, deep].map((all) => withSpread(all.map(({ cpuUs }) => cpuUs))),
      ),
    );
  }
});
