// Many simulated agents against a real coordinator process. Here in a short form without a word about times; the
// long one prints what it cost: BROADSIDE_SCALE=1000x60 (agents × seconds) npx vitest run test/scale
// With BROADSIDE_SCALE_STORE=postgres, _SWARMS=2 (processes that play agents), _SLOTS=4, _PINNED=1 (the coordinator
// alone on core 0), _PROFILE=DIR (CPU profiles of the coordinator and the swarms).
import { describe, expect, it } from 'vitest';
import { type ScaleOptions, type ScaleResult, scaleRun } from './scale-run.js';

const LONG = process.env['BROADSIDE_SCALE'];
const LONG_TIMEOUT_MS = 900_000;

/** What the report says, next to what the agents said: counts, and latencies bin for bin. */
function booksOf({ report, acknowledgedFrames }: ScaleResult): object {
  const { total, corrected, sendLag, wait } = report.latency;
  return {
    acknowledgedFrames,
    problems: report.ledger.problems,
    outcome: report.verdict.outcome,
    statusCounts: report.statusCounts,
    completed: report.counters.completed,
    bytesReceived: report.counters.bytesReceived,
    latency: { total, corrected, sendLag, wait },
  };
}

function expectedBooksOf({ expected, sentFrames }: ScaleResult): object {
  const { total, corrected, sendLag, wait } = expected.latencies();
  return {
    acknowledgedFrames: sentFrames,
    problems: [],
    outcome: 'pass',
    statusCounts: expected.statusRecord(),
    completed: expected.counter('completed'),
    bytesReceived: expected.counter('bytesReceived'),
    latency: { total, corrected, sendLag, wait },
  };
}

describe.skipIf(LONG !== undefined)('a coordinator with many agents', () => {
  it.each<ScaleOptions>([
    { agents: 20, slots: 3, seconds: 5, store: 'embedded' },
    { agents: 50, slots: 1, seconds: 5, store: 'postgres' },
  ])(
    'adds up exactly what $agents agents with $slots slots say in $seconds s ($store store)',
    async (options) => {
      const result = await scaleRun(options);
      expect(booksOf(result)).toEqual(expectedBooksOf(result));
    },
  );
});

describe.skipIf(LONG === undefined)('a coordinator with very many agents', () => {
  it(
    `adds up exactly what they say (${LONG})`,
    async () => {
      const result = await scaleRun(longOptions(LONG ?? ''));
      console.log(describeCost(result));
      expect(booksOf(result)).toEqual(expectedBooksOf(result));
    },
    LONG_TIMEOUT_MS,
  );
});

function longOptions(size: string): ScaleOptions {
  const [agents = 0, seconds = 0] = size.split('x').map(Number);
  const setting = (name: string): string | undefined => process.env[`BROADSIDE_SCALE_${name}`];
  const profileDir = setting('PROFILE');
  return {
    agents,
    seconds,
    slots: Number(setting('SLOTS') ?? 1),
    store: setting('STORE') === 'postgres' ? 'postgres' : 'embedded',
    swarms: Number(setting('SWARMS') ?? 1),
    isPinned: setting('PINNED') !== undefined,
    ...(profileDir === undefined ? {} : { profileDir }),
  };
}

function describeCost({
  acknowledged,
  cost,
  sentFrames,
  swarmLateMs,
  reconnects,
  fenced,
}: ScaleResult): string {
  const ms = (percentile: number): string => (acknowledged.percentileUs(percentile) / 1_000).toFixed(0);
  const mib = (bytes: number): string => (bytes / 1_048_576).toFixed(1);
  const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
  return [
    `frames ${sentFrames}; swarm late by ${swarmLateMs.toFixed(0)} ms at most; ` +
      `${reconnects} reconnected; ${fenced} attempts given up`,
    `acknowledged after p50 ${ms(50)} p90 ${ms(90)} p99 ${ms(99)} max ${ms(100)} ms`,
    `coordinator CPU ${percent(cost.cpuShare)} of a core: ` +
      cost.threadShares.map(([name, share]) => `${name} ${percent(share)}`).join(', '),
    `event loop delay p50 ${cost.loopDelayP50Ms.toFixed(1)} p99 ${cost.loopDelayP99Ms.toFixed(0)} ` +
      `max ${cost.loopDelayMaxMs.toFixed(0)} ms`,
    `resident ${mib(cost.residentMaxBytes)} MiB at most, ${mib(cost.residentGrowthPerMinute)} MiB per minute`,
    `report ${(cost.closingMs / 1_000).toFixed(1)} s after the load`,
  ].join('\n');
}
