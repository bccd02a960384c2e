// How exactly a rate is kept: 20 000 requests per second for 30 s at a target that can do more than twice that. Goal:
// achieved within 0.1 %, send lag p99 at most 1 ms. With --busy each core also has a process that computes all the
// time, with the same right to it. The target has core 0, the engine core 1. Linux, with cc and taskset; load stays on
// loopback.
//
// Usage: node test/bench/pacing.mjs [--rate 20000] [--seconds 30] [--connections 100] [--only io_uring,epoll,socket]
//          [--busy]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { EngineProcess } from './parts/engine-process.mjs';
import { machineFacts } from './parts/machine-facts.mjs';
import { GENERATOR_CORE, pinned, TARGET_CORE, withTarget } from './parts/programs.mjs';
import { line } from './parts/statistics.mjs';

const { values } = parseArgs({
  options: {
    rate: { type: 'string', default: '20000' },
    seconds: { type: 'string', default: '30' },
    connections: { type: 'string', default: '100' },
    only: { type: 'string', default: 'io_uring,epoll,socket' },
    busy: { type: 'boolean', default: false },
  },
});
const rate = Number(values.rate);
const durationMs = Number(values.seconds) * 1_000;
const connections = Number(values.connections);
/** @type {readonly import('./parts/engine-process.mjs').TransportName[]} */
const TRANSPORTS = ['io_uring', 'epoll', 'socket'];

/**
 * @param {import('./parts/engine-process.mjs').TransportName} transport
 * @param {number} port
 */
async function measure(transport, port) {
  const engine = new EngineProcess(transport);
  const pacing = { arrivals: /** @type {const} */ ('constant'), seed: 0, rate, firstIndex: 0, stride: 1 };
  try {
    await engine.run(port, { connections, requests: 150_000, durationMs: 10_000 });
    const outcome = await engine.run(port, { connections, durationMs, pacing });
    if (outcome === undefined) return line(transport, 'not to be had here');
    const { counters, sendLagUs, userUs, systemUs, elapsedMs } = outcome;
    const wanted = (rate * durationMs) / 1_000;
    const error = (counters.completed / wanted - 1) * 100;
    const lags = [sendLagUs.p50, sendLagUs.p99, sendLagUs.p999, sendLagUs.max].map((lag) => lag.toFixed(0));
    const cpuShare = (userUs + systemUs) / 10 / elapsedMs;
    return line(
      transport,
      String(counters.completed),
      `${error.toFixed(3)} %`,
      ...lags,
      `${cpuShare.toFixed(0)} %`,
    );
  } finally {
    await engine.end();
  }
}

const rivals = (values.busy ? [TARGET_CORE, GENERATOR_CORE] : []).map((core) => {
  const [file, args] = pinned(core, [process.execPath, '-e', 'for (;;);']);
  return spawn(file, args, { stdio: 'ignore' });
});
try {
  console.log(
    `${rate}/s for ${values.seconds} s${values.busy ? ', both cores busy' : ''}. ${machineFacts()}\n`,
  );
  const head = [
    'transport',
    'completed',
    'rate error',
    'send lag p50 µs',
    'p99',
    'p99.9',
    'max',
    'CPU of a core',
  ];
  console.log(`${line(...head)}\n${line('---', ...head.slice(1).map(() => '---:'))}`);
  await withTarget(async ({ port }) => {
    for (const transport of TRANSPORTS) {
      if (values.only.split(',').includes(transport)) console.log(await measure(transport, port));
    }
  });
} finally {
  for (const rival of rivals) {
    const gone = once(rival, 'exit');
    rival.kill();
    await gone;
  }
}
