import {
  COUNTER,
  counterOf,
  decodeInterval,
  decodeTotals,
  encodeInterval,
  GAUGE_NAMES,
  type Interval,
  ledgerProblems,
  newCounters,
  OPEN_TARGETS,
} from '@broadside/shared';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { plainShard } from '../testing/plain-shard.js';
import { Slot, type SlotEnd, type SlotEvents } from './slot.js';
import { SlotPool } from './slot-pool.js';
import type { IntervalFrame } from './thread-message.js';

const logger = pino({ level: 'silent' });

/** Engine threads that misbehave; the real one is tested with real targets in test/agent. */
function threadThat(does: string, says: { readonly note?: string } = {}): URL {
  const source = `
    import { parentPort } from 'node:worker_threads';
    let runs = 0;
    parentPort.on('message', (message) => {
      if (message.kind === 'run') { runs++; ${does} }
    });
    parentPort.postMessage(${JSON.stringify({ kind: 'up', ...says })});
  `;
  return new URL(`data:text/javascript,${encodeURIComponent(source)}`);
}

const shard = plainShard({ shardIndex: 3, shardCount: 4 });

const policies = { coordinator: OPEN_TARGETS, agent: OPEN_TARGETS };

/** 400 sent in the first second, 390 of them answered, 10 connections open. */
function firstSecond(): Interval {
  const counters = newCounters();
  counters[COUNTER.planned] = 400;
  counters[COUNTER.sent] = 400;
  counters[COUNTER.completed] = 385;
  counters[COUNTER.timeout] = 5;
  counters[COUNTER.connectionsAsked] = 12;
  counters[COUNTER.connectionsOpened] = 11;
  counters[COUNTER.connectionsClosedByUs] = 1;
  return {
    runId: 'r1',
    shardIndex: 3,
    attempt: 1,
    number: 0,
    span: 1,
    isLast: false,
    counters,
    statusCounts: new Map([[200, 385]]),
    gauges: new Float64Array(GAUGE_NAMES.length),
    histograms: [],
  };
}

interface Watched extends SlotEvents {
  readonly frames: IntervalFrame[];
  readonly heard: string[];
}

function watch(): Watched {
  const frames: IntervalFrame[] = [];
  const heard: string[] = [];
  return {
    frames,
    heard,
    onReady: () => heard.push('ready'),
    onProbed: () => heard.push('probed'),
    onInterval: (frame) => frames.push(frame),
  };
}

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

function slotWith(threadEntry: URL, stopTimeoutMs = 5_000): Slot {
  const slot = new Slot({ index: 0, threadEntry, transport: 'auto', logger, stopTimeoutMs });
  open.push(slot);
  return slot;
}

function fatalOf(end: SlotEnd): { code: string; message: string } | undefined {
  return end.kind === 'ended' ? end.result.fatal : end.fatal;
}

describe('Slot', () => {
  it('turns a thread that throws into a result with a fatal error, and is free again', async () => {
    const slot = slotWith(threadThat(`throw new Error('bad engine')`));
    const end = await slot.run(shard, watch(), policies).ended;
    expect(fatalOf(end)).toMatchObject({ code: 'ENGINE' });
    expect(fatalOf(end)?.message).toContain('bad engine');
    expect(slot.isFree).toBe(true);
  });

  it('does the same for a thread that exits, and for one whose script cannot be loaded', async () => {
    const exits = await slotWith(threadThat('process.exit(7)')).run(shard, watch(), policies).ended;
    expect(fatalOf(exits)?.code).toBe('ENGINE');
    const broken = await slotWith(new URL('data:text/javascript,import "nowhere-to-be-found"')).run(
      shard,
      watch(),
      policies,
    ).ended;
    expect(fatalOf(broken)?.code).toBe('ENGINE');
  });

  it('takes the next shard in a new thread after a crash', async () => {
    // The count of runs begins again in a new thread, so the second shard here is again the first there.
    const slot = slotWith(threadThat(`parentPort.postMessage({ kind: 'ready' }); process.exit(runs)`));
    for (let round = 0; round < 3; round++) {
      const watched = watch();
      await slot.run(shard, watched, policies).ended;
      expect(watched.heard).toEqual(['ready']);
    }
  });

  it('closes the books of a dead engine: what it had reported stays, and the sums balance', async () => {
    const bytes = JSON.stringify([...encodeInterval(firstSecond())]);
    const watched = watch();
    const slot = slotWith(
      threadThat(`
        const bytes = new Uint8Array(${bytes});
        parentPort.postMessage({ kind: 'interval', frame: { number: 0, span: 1, bytes } });
        process.exit(1);
      `),
    );
    const end = await slot.run(shard, watched, policies).ended;
    if (end.kind !== 'ended') throw new Error('no result');
    const totals = decodeTotals(Buffer.from(end.result.totals, 'base64'));
    expect(totals).toMatchObject({ runId: 'r1', shardIndex: 3, intervals: 2 });
    expect(ledgerProblems(totals.counters, { isFinal: true, requests: 1_000 })).toEqual([]);
    expect(counterOf(totals.counters, 'completed')).toBe(385);
    expect(counterOf(totals.counters, 'inFlightAtEnd')).toBe(10);
    expect(counterOf(totals.counters, 'notSentFatal')).toBe(600);
    const intervals = watched.frames.map((frame) => decodeInterval(frame.bytes));
    expect(intervals.map(({ number, isLast }) => [number, isLast])).toEqual([
      [0, false],
      [1, true],
    ]);
    const sum = newCounters();
    for (const { counters } of intervals) for (const [i, n] of counters.entries()) sum[i] = (sum[i] ?? 0) + n;
    expect(sum).toEqual(totals.counters);
  });

  it('terminates a thread that does not obey a stop within the bound, and says so', async () => {
    const slot = slotWith(threadThat('for (;;);'), 200);
    const run = slot.run(shard, watch(), policies);
    run.stop();
    expect(fatalOf(await run.ended)?.message).toContain('did not end within 200 ms');
    expect(slot.isFree).toBe(true);
  });

  it('lets go of a thread that is held in the kernel and cannot be terminated', async () => {
    const held = `import('node:child_process').then(({ spawnSync }) => {
      parentPort.postMessage({ kind: 'ready' });
      spawnSync(process.execPath, ['-e', 'setTimeout(() => {}, 3000)']);
      parentPort.postMessage({ kind: 'ready' });
    });`;
    const slot = slotWith(threadThat(held), 50);
    const watched = watch();
    const isHeld = new Promise<void>((resolve) => {
      watched.onReady = () => {
        watched.heard.push('ready');
        resolve();
      };
    });
    const run = slot.run(shard, watched, policies);
    await isHeld;
    run.stop();
    expect(fatalOf(await run.ended)?.message).toContain('did not end within 50 ms');
    expect(slot.isFree).toBe(true);
    expect(watched.heard).toEqual(['ready']);
  });

  it('does not terminate a thread that is still loading, because that can crash the process', async () => {
    const source = `
      import { parentPort } from 'node:worker_threads';
      await new Promise((resolve) => setTimeout(resolve, 300));
      parentPort.postMessage({ kind: 'up' });
    `;
    const slot = slotWith(new URL(`data:text/javascript,${encodeURIComponent(source)}`));
    const up = slot.warmUp();
    const startMs = performance.now();
    await slot.close();
    expect(performance.now() - startMs).toBeGreaterThan(250);
    await up;
  });

  it('lets a shard leave when it is closed, whatever its thread does', async () => {
    const slot = slotWith(threadThat('for (;;);'));
    const run = slot.run(shard, watch(), policies);
    await slot.close();
    expect(fatalOf(await run.ended)?.message).toContain('the agent was closed');
    expect(slot.isFree).toBe(false);
  });

  it('takes one shard at a time', () => {
    const slot = slotWith(threadThat(''));
    slot.run(shard, watch(), policies);
    expect(slot.isFree).toBe(false);
    expect(() => slot.run(shard, watch(), policies)).toThrow('taken');
  });
});

describe('SlotPool', () => {
  function poolOf(slots: number, does: string): SlotPool {
    const threadEntry = threadThat(does);
    const pool = new SlotPool({ slots, threadEntry, transport: 'auto', logger, stopTimeoutMs: 1_000 });
    open.push(pool);
    return pool;
  }

  /** Ends a shard at once, or at its first order, and says how many shards the thread has had. */
  const COUNTING = `
    const fatal = { code: 'COUNT', message: String(runs) };
    const end = () => parentPort.postMessage({ kind: 'refused', fatal });
    if (message.shard.connections === 1) end();
    else parentPort.once('message', end);
  `;

  it('counts its free slots, fills all of them and the extra ones, and then has none', async () => {
    const pool = poolOf(2, '');
    await pool.warmUp();
    expect([pool.freeCount, pool.extraSlots]).toEqual([2, 2]);
    for (const free of [1, 0, 0, 0]) {
      pool.run(shard, watch(), policies);
      expect(pool.freeCount).toBe(free);
    }
    expect(() => pool.run(shard, watch(), policies)).toThrow('no slot is free');
  });

  it('keeps the thread of an extra slot as long as no slot is free, and ends it then', async () => {
    const pool = poolOf(1, COUNTING);
    const countInExtra = async (): Promise<string | undefined> =>
      fatalOf(await pool.run({ ...shard, connections: 1 }, watch(), policies).ended)?.message;
    const held = pool.run(shard, watch(), policies);
    expect([await countInExtra(), await countInExtra()]).toEqual(['1', '2']);
    held.stop();
    await held.ended;
    expect(pool.freeCount).toBe(1);
    const next = pool.run(shard, watch(), policies);
    expect(await countInExtra()).toBe('1');
    next.stop();
    expect(fatalOf(await next.ended)?.message).toBe('2');
  });

  it('keeps one extra slot warm where it is told to, before and after a shard was in it', async () => {
    const startedSlots: number[] = [];
    const telling = pino(
      {},
      { write: (line: string) => startedSlots.push((JSON.parse(line) as { slot: number }).slot) },
    );
    const pool = new SlotPool({
      slots: 1,
      threadEntry: threadThat(COUNTING, { note: 'up' }),
      transport: 'auto',
      logger: telling,
      stopTimeoutMs: 1_000,
    });
    open.push(pool);
    await pool.warmUp();
    await pool.keepSpare();
    expect(startedSlots).toEqual([0, 1]);
    const held = pool.run(shard, watch(), policies);
    const first = pool.run(shard, watch(), policies);
    first.stop();
    expect(fatalOf(await first.ended)?.message).toBe('1');
    held.stop();
    await held.ended;
    const next = pool.run(shard, watch(), policies);
    const inSpare = pool.run({ ...shard, connections: 1 }, watch(), policies);
    expect(fatalOf(await inSpare.ended)?.message).toBe('2');
    expect(startedSlots).toEqual([0, 1]);
    next.stop();
    await next.ended;
  });

  it('has no spare thread any more when it is closed', async () => {
    const pool = poolOf(1, '');
    await pool.close();
    await pool.keepSpare();
    expect(() => pool.run(shard, watch(), policies)).toThrow('no slot is free');
  });

  it('ends a shard in an extra slot when it is closed', async () => {
    const pool = poolOf(1, COUNTING);
    pool.run(shard, watch(), policies);
    const extra = pool.run(shard, watch(), policies);
    await pool.close();
    expect(fatalOf(await extra.ended)?.message).toContain('the agent was closed');
    expect(() => pool.run(shard, watch(), policies)).toThrow('no slot is free');
  });
});
