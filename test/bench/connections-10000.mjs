// Ten thousand connections of one agent against nginx: a real coordinator, a real Redis and a real agent, each a
// process of its own. Says how many connections were opened and busy, what failed, and the agent's resident memory,
// read once a second, with the slope of the second half and its standard error. Goals: none failed, at most 200 MB,
// flat over 5 minutes. Linux, with nginx and redis-server; load stays on loopback.
//
// Usage: node test/bench/connections-10000.mjs [--connections 10000] [--seconds 300] [--transport auto]
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { machineFacts } from './parts/machine-facts.mjs';

/** @typedef {{ second: number, residentMb: number }} Sample */

const { values } = parseArgs({
  options: {
    connections: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '300' },
    transport: { type: 'string', default: 'auto' },
  },
});
/** Only these processes know it, on loopback. */
const ENV = { ...process.env, BROADSIDE_JOIN_TOKEN: randomUUID() };
const CLI = fileURLToPath(new URL('../../apps/cli/dist/main.js', import.meta.url));
/** @type {(import('node:child_process').ChildProcess)[]} started last, ended first */
const running = [];
const folder = await mkdtemp(join(tmpdir(), 'broadside-bench-'));

/** A port that nothing listens on. */
async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  server.close();
  await once(server, 'close');
  return port;
}

/**
 * @param {readonly string[]} command
 * @param {RegExp} [sign] in a line of its output that says that it is ready
 */
async function start(command, sign) {
  const [file = '', ...args] = command;
  const child = spawn(file, args, { env: ENV, stdio: ['ignore', 'pipe', 'pipe'] });
  running.push(child);
  const said = new PassThrough();
  child.stdout.pipe(said);
  child.stderr.pipe(said);
  let found = '';
  for await (const text of sign === undefined ? [] : createInterface(said)) {
    if (!sign?.test(text)) continue;
    found = text;
    break;
  }
  if (sign !== undefined && found === '') throw new Error(`${command.join(' ')} ended before it was ready`);
  said.resume();
  return { child, found };
}

async function startNginx() {
  const port = await freePort();
  // Connections that were closed keep their place for a moment.
  const room = Number(values.connections) * 1.5 + 100;
  await writeFile(
    join(folder, 'nginx.conf'),
    `daemon off; worker_processes 1; worker_rlimit_nofile ${room + 500};
     pid ${folder}/nginx.pid; error_log stderr error;
     events { worker_connections ${room}; }
     http { access_log off; keepalive_requests 1000000000; keepalive_timeout 600s;
       server { listen 127.0.0.1:${port} backlog=4096; return 200 "${'x'.repeat(100)}"; } }`,
  );
  await start(['nginx', '-p', folder, '-c', join(folder, 'nginx.conf')]);
  return port;
}

/** @param {number | undefined} pid */
async function residentMb(pid) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024;
}

/**
 * Least squares over the second half. @param {readonly Sample[]} all
 * @returns slope and its standard error, in MiB per minute
 */
function slopeOf(all) {
  const samples = all.slice(all.length >> 1);
  const mean = (/** @type {(sample: Sample) => number} */ of) =>
    samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length;
  const [second, memory] = [mean((sample) => sample.second), mean((sample) => sample.residentMb)];
  const spread = samples.reduce((sum, sample) => sum + (sample.second - second) ** 2, 0);
  const slope =
    samples.reduce((sum, sample) => sum + (sample.second - second) * (sample.residentMb - memory), 0) /
    spread;
  const residuals = samples.reduce(
    (sum, sample) => sum + (sample.residentMb - memory - slope * (sample.second - second)) ** 2,
    0,
  );
  const error = Math.sqrt(residuals / Math.max(samples.length - 2, 1) / spread);
  return `${(slope * 60).toFixed(2)} ± ${(error * 60).toFixed(2)}`;
}

try {
  const port = await startNginx();
  const redisPort = await freePort();
  const options = ['--port', String(redisPort), '--save', '', '--bind', '127.0.0.1', '--dir', folder];
  await start(['redis-server', ...options], /Ready to accept/);
  const node = [process.execPath, CLI];
  const serve = ['serve', '--port', '0', '--redis', `redis://127.0.0.1:${redisPort}`];
  const listens = await start([...node, ...serve], /^broadside coordinator listens on /);
  const url = listens.found.replace(/^.* listens on /, '');
  const offer = ['agent', '--join', url, '--slots', '1', '--transport', values.transport];
  const { child: agent } = await start([...node, ...offer], / offers \d+ slots? /);
  const idleMb = await residentMb(agent.pid);
  /** @type {Sample[]} */
  const samples = [];
  const startedAt = performance.now();
  const sampling = setInterval(() => {
    const second = (performance.now() - startedAt) / 1_000;
    void residentMb(agent.pid).then((resident) => samples.push({ second, residentMb: resident }));
  }, 1_000);
  const report = join(folder, 'report.json');
  const load = ['-c', values.connections, '-d', `${values.seconds}s`, '-q', '--json', report];
  const target = `http://127.0.0.1:${port}/100.html`;
  const run = await start([...node, 'run', '--coordinator', url, ...load, target]);
  const [code] = /** @type {[number | null]} */ (await once(run.child, 'exit'));
  clearInterval(sampling);
  const peak = /VmHWM:\s+(\d+)/.exec(await readFile(`/proc/${agent.pid}/status`, 'utf8'))?.[1];
  console.log(
    `${values.connections} connections, ${values.seconds} s, ended with ${code}. ${machineFacts()}\n`,
  );
  console.log(`agent: idle ${idleMb.toFixed(0)} MiB, peak ${(Number(peak) / 1_024).toFixed(0)} MiB`);
  console.log(`slope of the second half: ${slopeOf(samples)} MiB a minute`);
  const { counters } = /** @type {import('../../libs/shared/dist/index.js').Report} */ (
    JSON.parse(await readFile(report, 'utf8'))
  );
  const happened = Object.entries(counters).filter(([, count]) => count > 0);
  console.log(happened.map(([name, count]) => `${name} ${count}`).join(', '));
} finally {
  for (const child of running.toReversed()) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const gone = once(child, 'exit');
    child.kill();
    await gone;
  }
  await rm(folder, { recursive: true });
}
