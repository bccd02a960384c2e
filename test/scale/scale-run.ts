// One run of thousands of simulated agents against a real coordinator process, and what it cost there.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Histogram,
  isFinalState,
  LIMITS,
  type PlanInput,
  type Report,
  ROUTES,
  RunTotals,
  runDetailSchema,
} from '@broadside/shared';
import { MAIN } from '../cli/broadside.js';
import { PostgresServer } from '../support/postgres.js';
import { type RunningProcess, startProcess } from '../support/process.js';
import { RedisServer } from '../support/redis.js';
import { MadeUpLoad, REQUESTS_PER_SECOND } from './made-up-load.mjs';
import {
  cpuShareOf,
  growthOf,
  type MemoryReading,
  readCpu,
  readMemory,
  threadSharesOf,
} from './process-meter.js';
import { SwarmProcess } from './swarm-process.js';

export interface ScaleOptions {
  readonly agents: number;
  readonly slots?: number;
  readonly seconds: number;
  readonly store: 'embedded' | 'postgres';
  /** Processes that play the agents. */
  readonly swarms?: number;
  /** The coordinator gets the first core for itself, everything else the second. */
  readonly isPinned?: boolean;
  /** Folder for the CPU profiles of the coordinator and the swarms. */
  readonly profileDir?: string;
}

export interface ScaleResult {
  readonly report: Report;
  /** What the agents said in all. */
  readonly expected: RunTotals;
  readonly sentFrames: number;
  readonly acknowledgedFrames: number;
  /** From a frame's `send` to its acknowledgement, in µs. */
  readonly acknowledged: Histogram;
  /** How late the agents themselves were at worst. */
  readonly swarmLateMs: number;
  /** Connections that agents made after their first, and attempts of theirs that were given up. */
  readonly reconnects: number;
  readonly fenced: number;
  readonly cost: CoordinatorCost;
}

export interface CoordinatorCost {
  /** Share of one core while the load goes on. */
  readonly cpuShare: number;
  readonly threadShares: readonly (readonly [name: string, share: number])[];
  readonly loopDelayP50Ms: number;
  readonly loopDelayP99Ms: number;
  readonly loopDelayMaxMs: number;
  readonly residentMaxBytes: number;
  /** After the first third of the run. */
  readonly residentGrowthPerMinute: number;
  /** From the end of the load to the report. */
  readonly closingMs: number;
}

/** How long the run and its acknowledgements may take: so many times its own length, and this. */
const OVERRUN_FACTOR = 8;
const OVERRUN_MS = 60_000;
/** A busy coordinator may take long to leave, and a profile to be written. */
const STOP_TIMEOUT_MS = 60_000;
const MAX_TRIES = 5;
const ASK_EVERY_MS = 200;
const SEED = 7;
const TOKEN = 'a-join-token-of-this-test';
const CONNECTIONS_PER_SHARD = 10;
/** Of the coordinator's log, where a run goes wrong. */
const LOG_TAIL = 20_000;
const LOOP_DELAY = new URL('./loop-delay.mjs', import.meta.url).href;

export async function scaleRun(options: ScaleOptions): Promise<ScaleResult> {
  const { agents, slots = 1, seconds, store, swarms = 1, isPinned = false } = options;
  const folder = await mkdtemp(join(tmpdir(), 'broadside-scale-'));
  const toStop: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })];
  let coordinatorLog: (() => string) | undefined;
  try {
    const redis = await RedisServer.start();
    toStop.unshift(() => redis.stop());
    const postgres = store === 'postgres' ? await PostgresServer.start() : undefined;
    if (postgres !== undefined) toStop.unshift(() => postgres.stop());
    const coordinator = await startCoordinator(options, { folder, redis, postgres });
    toStop.unshift(() => coordinator.stop(STOP_TIMEOUT_MS));
    const { profileDir } = options;
    if (profileDir !== undefined) {
      toStop.unshift(() => writeFile(join(profileDir, 'coordinator.log'), coordinator.stderr()));
    }
    coordinatorLog = () => coordinator.stderr();
    const url = (await coordinator.waitForLine(/^broadside coordinator listens on /)).split(' ').at(-1) ?? '';
    const playing = Array.from(
      { length: swarms },
      () => new SwarmProcess({ cpu: isPinned ? 1 : undefined, profileDir: options.profileDir }),
    );
    toStop.unshift(() => Promise.all(playing.map((swarm) => swarm.leave())));
    const each = agents / swarms;
    const order = {
      url,
      joinToken: TOKEN,
      redisUrl: redis.url,
      seed: SEED,
      connections: CONNECTIONS_PER_SHARD,
      slots,
      agents: each,
    };
    await Promise.all(playing.map((swarm, i) => swarm.join({ ...order, firstAgent: i * each })));
    const outcome = async () => ({
      ...(await watchedRun(options, { url, pid: coordinator.pid, folder })),
      results: await Promise.all(playing.map((swarm) => swarm.settle())),
    });
    const timeoutMs = seconds * OVERRUN_FACTOR * 1_000 + OVERRUN_MS;
    const { report, cost, results } = await inTime(
      timeoutMs,
      Promise.race([outcome(), ...playing.map(({ ended }) => ended)]),
    );
    return {
      report,
      expected: expectedTotals(agents * slots, seconds),
      sentFrames: sumOf(results.map(({ sentFrames }) => sentFrames)),
      acknowledgedFrames: sumOf(results.map(({ acknowledgedFrames }) => acknowledgedFrames)),
      acknowledged: Histogram.from(...results.map(({ ackUs }) => ackUs)),
      swarmLateMs: Math.max(...results.map(({ lateMs }) => lateMs)),
      reconnects: sumOf(results.map(({ reconnects }) => reconnects)),
      fenced: sumOf(results.map(({ fenced }) => fenced)),
      cost,
    };
  } catch (error) {
    throw new Error(`the coordinator said:\n${coordinatorLog?.().slice(-LOG_TAIL)}`, { cause: error });
  } finally {
    for (const stop of toStop) await stop();
  }
}

async function inTime<T>(timeoutMs: number, outcome: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error('the run, or its acknowledgements, did not end in time')),
      timeoutMs,
    );
  });
  try {
    return await Promise.race([outcome, late]);
  } finally {
    clearTimeout(timer);
  }
}

interface Servers {
  readonly folder: string;
  readonly redis: RedisServer;
  readonly postgres: PostgresServer | undefined;
}

async function startCoordinator(
  { isPinned = false, profileDir }: ScaleOptions,
  { folder, redis, postgres }: Servers,
): Promise<RunningProcess> {
  const store = postgres === undefined ? ['--data-dir', join(folder, 'store')] : ['--database', postgres.url];
  const profile = profileDir === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileDir}`];
  const words = [
    '--import',
    LOOP_DELAY,
    ...profile,
    MAIN,
    'serve',
    '--port',
    '0',
    '--redis',
    redis.url,
    ...store,
  ];
  const env = { BROADSIDE_JOIN_TOKEN: TOKEN, BROADSIDE_SCALE_LOOP_DELAY: join(folder, 'loop-delay') };
  return isPinned
    ? startProcess('/usr/bin/taskset', ['-c', '0', process.execPath, ...words], { env })
    : startProcess(process.execPath, words, { env });
}

interface Watched {
  readonly url: string;
  readonly pid: number;
  readonly folder: string;
}

/** Fires the run and measures the coordinator between its first and its last second. */
async function watchedRun(
  { agents, slots = 1, seconds }: ScaleOptions,
  { url, pid, folder }: Watched,
): Promise<{ report: Report; cost: CoordinatorCost }> {
  const shards = agents * slots;
  const plan: PlanInput = {
    target: 'http://127.0.0.1:9/',
    rate: shards * REQUESTS_PER_SECOND,
    durationMs: seconds * 1_000,
    connections: shards * CONNECTIONS_PER_SHARD,
    slots: shards,
    keepAlive: true,
  };
  const runId = await post(url, plan);
  const startedAtMs = await until(async () => {
    const { startedAt, state, reason } = await detailOf(url, runId);
    if (isFinalState(state)) throw new Error(`the run ${state} before its start: ${reason}`);
    return startedAt === undefined ? undefined : Date.parse(startedAt);
  });
  // The first second has the start in it, the last one the end.
  const [fromMs, toMs] = [startedAtMs + 1_500, startedAtMs + seconds * 1_000 - 500];
  await later(fromMs - Date.now());
  const before = await readCpu(pid);
  const memory: MemoryReading[] = [];
  while (Date.now() < toMs) {
    memory.push(await readMemory(pid));
    await later(Math.min(1_000, Math.max(toMs - Date.now(), 1)));
  }
  const after = await readCpu(pid);
  const report = await until(async () => {
    const detail = await detailOf(url, runId);
    if (!isFinalState(detail.state)) return undefined;
    if (detail.state !== 'finished' || detail.report === undefined) {
      throw new Error(`the run ${detail.state}: ${detail.reason}`);
    }
    return detail.report;
  });
  const delays = (await readFile(join(folder, 'loop-delay'), 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { atMs: number; p50Ms: number; p99Ms: number; maxMs: number })
    .filter(({ atMs }) => atMs > fromMs && atMs < toMs);
  return {
    report,
    cost: {
      cpuShare: cpuShareOf(before, after),
      threadShares: threadSharesOf(before, after),
      loopDelayP50Ms: middleOf(delays.map(({ p50Ms }) => p50Ms)),
      loopDelayP99Ms: middleOf(delays.map(({ p99Ms }) => p99Ms)),
      loopDelayMaxMs: Math.max(0, ...delays.map(({ maxMs }) => maxMs)),
      residentMaxBytes: Math.max(...memory.map(({ residentBytes }) => residentBytes)),
      residentGrowthPerMinute: growthOf(memory.slice(Math.floor(memory.length / 3))),
      closingMs: Date.parse(report.run.endedAt) - startedAtMs - seconds * 1_000,
    },
  };
}

function expectedTotals(shards: number, seconds: number): RunTotals {
  const load = new MadeUpLoad(SEED, CONNECTIONS_PER_SHARD);
  const sum = new RunTotals();
  const count = (seconds * 1_000) / LIMITS.intervalMs;
  for (let shardIndex = 0; shardIndex < shards; shardIndex++) sum.add(load.totals(shardIndex, count));
  return sum;
}

async function post(url: string, plan: PlanInput): Promise<string> {
  const response = await fetch(url + ROUTES.runs, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(plan),
  });
  const body = (await response.json()) as { readonly id?: string };
  if (body.id === undefined) throw new Error(`not taken in: ${JSON.stringify(body)}`);
  return body.id;
}

async function detailOf(url: string, runId: string) {
  const response = await askAgain(() => fetch(`${url}${ROUTES.runs}/${runId}`));
  const body: unknown = await response.json();
  if (!response.ok) throw new Error(`no detail of the run: ${JSON.stringify(body)}`);
  return runDetailSchema.parse(body);
}

/** A coordinator that stands still for a while closes the connections that waited meanwhile. */
async function askAgain(ask: () => Promise<Response>): Promise<Response> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask();
    } catch (error) {
      if (tries === MAX_TRIES) throw error;
    }
  }
}

/** Asks again soon; the test's own timeout ends it. */
async function until<T>(ask: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await later(ASK_EVERY_MS);
  }
}

function later(delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, Math.max(delayMs, 0));
  });
}

function middleOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
