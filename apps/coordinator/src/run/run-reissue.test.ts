import { parsePlan, type Shard, splitPlan } from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import { type ReissueParts, RunReissue } from './run-reissue.js';
import { ShardProgress } from './shard-progress.js';

/** Loses an attempt. @returns what the journal was told to wait for. */
function lose(canResume: boolean, arrived: Promise<void>): Promise<void>[] {
  const awaited: Promise<void>[] = [];
  const parts = {
    services: { canResume },
    orders: { startAtUs: undefined },
    books: { settled: () => arrived },
    journal: { storeAfter: (done: Promise<void>) => awaited.push(done) },
    timers: { armOnce: () => undefined },
  };
  const shard: Partial<Shard> = { runId: 'r', shardIndex: 0, attempt: 1, requests: 10 };
  // Nobody is to take over, so nothing else is asked for.
  const reissue = new RunReissue(parts as unknown as ReissueParts);
  reissue.lose(new ShardProgress(shard as Shard, 'a', 'a'), 'lost', { isWanted: false });
  expect(reissue.rests.losses).toMatchObject([{ restRequests: 10, rest: 'dropped' }]);
  return awaited;
}

/** A shard of a run of 10 s that is lost at some time of the run, and one agent that takes rests over. */
class Bench {
  nowMs: number;
  /** How long the store takes. */
  storeMs = 0;
  readonly begun: ShardProgress[] = [];
  readonly handedOut: ShardProgress[] = [];
  readonly reissue: RunReissue;

  constructor(lostAtMs: number, canResume = false) {
    this.nowMs = lostAtMs;
    const room = { agentId: 'b', agentName: 'b', labels: {}, slots: 1, shards: 1, freeSlots: 0 };
    const registry = {
      restRooms: () => (this.handedOut.length === 0 ? [{ ...room, freeExtraSlots: 1 }] : []),
      reserve: () => undefined,
      release: () => undefined,
      send: () => undefined,
      isExtra: () => true,
    };
    const startAtUs = 5e9;
    const settled = (): Promise<void> => {
      this.nowMs += this.storeMs;
      return Promise.resolve();
    };
    const parts = {
      services: {
        canResume,
        registry,
        clock: { epochUs: () => startAtUs + this.nowMs * 1_000 },
        log: { info: () => undefined },
      },
      on: {},
      runId: 'r',
      orders: { startAtUs, isStopped: false },
      shards: { all: [], add: (progress: ShardProgress) => this.handedOut.push(progress) },
      agents: { add: () => undefined, facts: () => [{ agentId: 'b', clockUncertaintyUs: 20_000 }] },
      books: { open: () => undefined, settled },
      journal: {
        insertShards: () => Promise.resolve(),
        saveShard: () => undefined,
        storeAfter: () => undefined,
        settled,
      },
      groups: {
        enqueue: () => Promise.resolve(),
        release: () => Promise.resolve(),
        withdraw: () => Promise.resolve(),
      },
      // What waits for a moment comes at once, and nothing else runs out of time.
      timers: {
        arm: () => undefined,
        armOnce: (_name: string, _ms: number, act: () => void) => act(),
        disarm: () => undefined,
      },
      isOffSlot: () => false,
      onBegun: (progress: ShardProgress) => this.begun.push(progress),
      onChange: () => undefined,
    };
    // Only what these tests come by is there.
    this.reissue = new RunReissue(parts as unknown as ReissueParts);
    const plan = parsePlan({ target: 'http://127.0.0.1:9/', connections: 4, rate: 100, duration: '10s' });
    const [shard] = plan.ok ? splitPlan(plan.plan, 'r', 1) : [];
    if (shard === undefined) throw new Error('no shard');
    this.reissue.lose(new ShardProgress(shard, 'a', 'a'), 'lost', { isWanted: true });
  }

  /** A slot holds the attempt that takes the rest over. */
  ready(): ShardProgress {
    const [taker] = this.handedOut;
    if (taker === undefined) throw new Error('nobody takes it over');
    this.reissue.begin(taker);
    return taker;
  }
}

describe('the rest of a lost attempt', () => {
  it('goes on as soon as a slot holds it, however late that is', () => {
    for (const lateMs of [30, 700, 2_900]) {
      const bench = new Bench(4_250);
      bench.nowMs += lateMs;
      const taker = bench.ready();
      expect(bench.begun).toEqual([taker]);
      // Its time is what was left in the slice in which it was handed out; 100 ms for the order, 20 for the clock.
      expect([taker.shard.durationMs, taker.startSlice]).toEqual([6_000, 4]);
      expect(taker.fromMs).toBe(4_250 + lateMs + 120);
      expect(bench.reissue.rests.losses).toMatchObject([
        { rest: 'taken', takenBy: { attempt: 2, fromMs: taker.fromMs, isExtra: true } },
      ]);
    }
  });

  it('begins no sooner than the second slice, as the first belongs to the start', () => {
    const bench = new Bench(300);
    const taker = bench.ready();
    expect([taker.startSlice, taker.fromMs]).toEqual([1, 1_000]);
  });

  it('is not begun when its time is over by then, and not handed out shortly before that', () => {
    const bench = new Bench(9_400);
    bench.nowMs = 9_900;
    expect(bench.ready()).toMatchObject({ hasBegun: false, didNothing: true });
    expect(bench.reissue.rests.losses).toMatchObject([{ rest: 'waiting' }]);
    bench.reissue.useFreeSlots();
    const late = new Bench(9_500);
    expect([late.handedOut, late.reissue.rests.losses]).toMatchObject([[], [{ rest: 'dropped' }]]);
  });

  it('is given a later instant when the first could not be stored in time, as nobody has been told', async () => {
    const bench = new Bench(4_000, true);
    bench.storeMs = 300;
    const taker = bench.ready();
    await expect.poll(() => bench.begun).toEqual([taker]);
    // Stored late after 300 ms, and named again with four times as much time.
    expect(taker.fromMs).toBe(4_300 + 420);
    expect(bench.nowMs).toBe(4_600);
  });
});

describe('the loss of an attempt', () => {
  it('is stored after the intervals that it was reckoned from', () => {
    const arrived = Promise.resolve();
    expect(lose(true, arrived)).toEqual([arrived]);
  });

  it('waits for nothing where no coordinator could go on with the run', () => {
    expect(lose(false, Promise.resolve())).toEqual([]);
  });
});
