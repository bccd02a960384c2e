import {
  type AgentMessage,
  COUNTER,
  encodeInterval,
  encodeTotals,
  GAUGE_NAMES,
  LIMITS,
  newCounters,
  type Shard,
  type ShardResult,
} from '@broadside/shared';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { ShardAttempts, type ShardAttemptsOptions } from './shard-attempts.js';
import type { SlotEnd, SlotEvents, SlotRun } from './slot/slot.js';
import { plainShard } from './testing/plain-shard.js';
import { systemTimers } from './timers.js';

const logger = pino({ level: 'silent' });

const shardOf = (runId: string): Shard => plainShard({ runId, connections: 1, requests: 1, timeoutMs: 1 });

/** Totals of an attempt that took up 7 requests. */
function totalsOf({ runId, shardIndex, attempt }: Shard): string {
  const counters = newCounters();
  counters[COUNTER.sent] = 7;
  const gauges = new Float64Array(GAUGE_NAMES.length);
  const frame = encodeTotals({
    runId,
    shardIndex,
    attempt,
    intervals: 1,
    counters,
    statusCounts: new Map(),
    gauges,
    histograms: [],
  });
  return Buffer.from(frame).toString('base64');
}

/** A slot whose shard ends when the test says so, or when it is stopped. */
class HandSlot implements SlotRun {
  readonly orders: string[] = [];
  readonly ended: Promise<SlotEnd>;
  readonly events: SlotEvents;
  readonly #shard: Shard;
  #leave: (end: SlotEnd) => void = () => undefined;

  constructor(shard: Shard, events: SlotEvents) {
    this.#shard = shard;
    this.events = events;
    this.ended = new Promise((resolve) => {
      this.#leave = resolve;
    });
  }

  probe(): void {
    this.orders.push('probe');
  }

  start(startAtUs: number, referenceBytes?: number, fromUs = startAtUs): void {
    this.orders.push(`start ${startAtUs} from ${fromUs} ${referenceBytes}`);
  }

  stop(): void {
    this.orders.push('stop');
    this.end();
  }

  end(): void {
    const { runId, shardIndex, attempt } = this.#shard;
    const result: ShardResult = {
      runId,
      shardIndex,
      attempt,
      totals: totalsOf(this.#shard),
      addresses: [],
      startSkewUs: 0,
      transport: 'socket',
    };
    this.#leave({ kind: 'ended', result });
  }

  interval(number: number, isLast = false): void {
    const { runId, shardIndex, attempt } = this.#shard;
    const bytes = encodeInterval({
      runId,
      shardIndex,
      attempt,
      number,
      span: 1,
      isLast,
      counters: newCounters(),
      statusCounts: new Map(),
      gauges: new Float64Array(GAUGE_NAMES.length),
      histograms: [],
    });
    this.events.onInterval({ number, span: 1, bytes });
  }
}

class HandUplink {
  isUp = true;
  room = Number.POSITIVE_INFINITY;
  clockOffset = { offsetUs: 1_000, uncertaintyUs: 1 };
  readonly said: AgentMessage[] = [];
  frames = 0;

  send(message: AgentMessage): boolean {
    if (this.isUp) this.said.push(message);
    return this.isUp;
  }

  sendFrame(): boolean {
    if (!this.isUp || this.room <= 0) return false;
    this.room--;
    this.frames++;
    return true;
  }

  kinds(): string[] {
    return this.said.map(({ kind }) => kind);
  }
}

const open: ShardAttempts[] = [];
afterEach(() => {
  for (const attempts of open.splice(0)) attempts.close();
});

interface Bench {
  readonly attempts: ShardAttempts;
  readonly uplink: HandUplink;
  readonly slots: HandSlot[];
}

interface BenchOptions {
  readonly startTimeoutMs?: number;
  readonly keepEndedMs?: number;
  readonly preflight?: ShardAttemptsOptions['preflight'];
}

const nothingFound = { refusals: [], warnings: [], remarks: [] };

function bench(options: BenchOptions = {}): Bench {
  const uplink = new HandUplink();
  const slots: HandSlot[] = [];
  const attempts = new ShardAttempts({
    runInSlot: (shard, events) => {
      const slot = new HandSlot(shard, events);
      slots.push(slot);
      return slot;
    },
    uplink,
    logger,
    timers: systemTimers,
    startTimeoutMs: 60_000,
    keepEndedMs: 60_000,
    preflight: () => nothingFound,
    ...options,
  });
  open.push(attempts);
  return { attempts, uplink, slots };
}

const attempt = { runId: 'r1', shardIndex: 0, attempt: 1 };

describe('ShardAttempts', () => {
  it('gives up a shard that nobody starts, tells the coordinator, and fails the job', async () => {
    const { attempts, uplink, slots } = bench({ startTimeoutMs: 20 });
    const carried = attempts.carryOut(shardOf('r1'));
    slots[0]?.events.onReady();
    await expect(carried).rejects.toThrow(/no order to start came/);
    expect(slots[0]?.orders).toEqual(['stop']);
    expect(uplink.said.at(-1)).toMatchObject({ kind: 'refused', fatal: { code: 'NO_START' } });
    expect(attempts.list()).toEqual([]);
  });

  it('refuses a shard that the machine cannot carry before a slot takes it', async () => {
    const { attempts, uplink, slots } = bench({
      preflight: () => ({ ...nothingFound, refusals: ['too few descriptors', 'too few ports'] }),
    });
    await expect(attempts.carryOut(shardOf('r1'))).rejects.toThrow('too few descriptors (PREFLIGHT)');
    expect(slots).toEqual([]);
    expect(uplink.said).toEqual([
      { kind: 'refused', shard: attempt, fatal: { code: 'PREFLIGHT', message: 'too few descriptors' } },
    ]);
    expect(attempts.list()).toEqual([]);
  });

  it('says with ready what is doubtful, and again after a broken connection', async () => {
    const { attempts, uplink, slots } = bench({
      preflight: () => ({ ...nothingFound, warnings: ['the governor is "powersave"'] }),
    });
    const carried = attempts.carryOut(shardOf('r1'));
    slots[0]?.events.onReady();
    const ready = { kind: 'ready', shard: attempt, warnings: ['the governor is "powersave"'] };
    expect(uplink.said).toEqual([ready]);
    attempts.resend();
    expect(uplink.said).toEqual([ready, ready]);
    slots[0]?.end();
    await carried;
  });

  it('checks a shard together with those that wait here for their start', async () => {
    const seen: { waiting: string[]; slots: number }[] = [];
    const { attempts, slots } = bench({
      preflight: (_shard, waiting, busySlots) => {
        seen.push({ waiting: waiting.map(({ runId }) => runId), slots: busySlots });
        return nothingFound;
      },
    });
    const carried = [attempts.carryOut(shardOf('r1')), attempts.carryOut(shardOf('r2'))];
    attempts.obey({ kind: 'start', shard: attempt, startAtUs: 0 });
    carried.push(attempts.carryOut(shardOf('r3')));
    for (const slot of slots) slot.end();
    await Promise.all(carried);
    expect(seen).toEqual([
      { waiting: [], slots: 1 },
      { waiting: ['r1'], slots: 2 },
      { waiting: ['r2'], slots: 3 },
    ]);
  });

  it('starts once, at the instant on the clock of this process', async () => {
    const { attempts, slots } = bench();
    const carried = attempts.carryOut(shardOf('r1'));
    attempts.obey({ kind: 'start', shard: attempt, startAtUs: 5_000, referenceBytes: 77 });
    attempts.obey({ kind: 'start', shard: attempt, startAtUs: 9_000 });
    expect(slots[0]?.orders).toEqual(['start 4000 from 4000 77']);
    slots[0]?.end();
    await carried;
  });

  it('begins a rest later than its time where it is told to', async () => {
    const { attempts, slots } = bench();
    const carried = attempts.carryOut(shardOf('r1'));
    attempts.obey({ kind: 'start', shard: attempt, startAtUs: 5_000, fromUs: 9_000 });
    expect(slots[0]?.orders).toEqual(['start 4000 from 8000 undefined']);
    slots[0]?.end();
    await carried;
  });

  it('says ready, probed and refused again after a broken connection, but ready no more after the start', () => {
    const { attempts, uplink, slots } = bench();
    uplink.isUp = false;
    const carried = attempts.carryOut(shardOf('r1'));
    slots[0]?.events.onReady();
    slots[0]?.events.onProbed({ ok: true, bodyBytes: 1, status: 200 });
    expect(uplink.said).toEqual([]);
    uplink.isUp = true;
    attempts.resend();
    expect(uplink.kinds()).toEqual(['ready', 'probed']);
    attempts.obey({ kind: 'start', shard: attempt, startAtUs: 0 });
    attempts.resend();
    expect(uplink.kinds()).toEqual(['ready', 'probed']);
    slots[0]?.end();
    return carried;
  });

  it('says again what the probe was like when it is asked again, and sends none for it', () => {
    const { attempts, uplink, slots } = bench();
    const carried = attempts.carryOut(shardOf('r1'));
    for (let asked = 0; asked < 2; asked++) attempts.obey({ kind: 'probe', shard: attempt });
    slots[0]?.events.onProbed({ ok: true, bodyBytes: 1, status: 200 });
    attempts.obey({ kind: 'probe', shard: attempt });
    expect(uplink.kinds()).toEqual(['probed', 'probed']);
    expect(slots[0]?.orders).toEqual(['probe', 'probe']);
    slots[0]?.end();
    return carried;
  });

  it('keeps a refusal that could not be said until it can be', async () => {
    const { attempts, uplink } = bench({ startTimeoutMs: 5 });
    uplink.isUp = false;
    await expect(attempts.carryOut(shardOf('r1'))).rejects.toThrow('NO_START');
    expect(attempts.list()).toEqual([attempt]);
    uplink.isUp = true;
    attempts.resend();
    expect(uplink.kinds()).toEqual(['refused']);
    expect(attempts.list()).toEqual([]);
  });

  it('sends frames only while the connection has room, and the rest when it has room again', async () => {
    const { attempts, uplink, slots } = bench();
    const carried = attempts.carryOut(shardOf('r1'));
    uplink.room = 1;
    for (const number of [0, 1, 2]) slots[0]?.interval(number, number === 2);
    expect(uplink.frames).toBe(1);
    uplink.room = 10;
    attempts.pump();
    // The window of one attempt; the next goes out when the first is stored.
    expect(uplink.frames).toBe(LIMITS.maxUnacknowledgedIntervals);
    attempts.obey({ kind: 'ack', shard: attempt, number: 0 });
    expect(uplink.frames).toBe(3);
    slots[0]?.end();
    await carried;
    expect(attempts.list()).toEqual([attempt]);
    attempts.obey({ kind: 'ack', shard: attempt, number: 2 });
    expect(attempts.list()).toEqual([]);
  });

  it('does not take the same attempt twice', async () => {
    const { attempts, slots } = bench();
    const carried = attempts.carryOut(shardOf('r1'));
    await expect(attempts.carryOut(shardOf('r1'))).rejects.toThrow(/already/);
    slots[0]?.end();
    await carried;
  });

  it('settles when the last frame is acknowledged, and when the time is over', async () => {
    const { attempts, slots } = bench();
    const carried = attempts.carryOut(shardOf('r1'));
    slots[0]?.interval(0, true);
    attempts.drain();
    await carried;
    await attempts.settled(5);
    expect(attempts.list()).toEqual([attempt]);
    const settled = attempts.settled(60_000);
    attempts.obey({ kind: 'ack', shard: attempt, number: 0 });
    await settled;
    await expect(attempts.carryOut(shardOf('r2'))).rejects.toThrow(/leaving/);
  });

  it('says what a fenced attempt had sent in all', async () => {
    const { attempts, uplink, slots } = bench();
    const carried = attempts.carryOut(shardOf('r'));
    slots[0]?.interval(0);
    attempts.obey({ kind: 'fenced', shard: { runId: 'r', shardIndex: 0, attempt: 1 } });
    await carried;
    expect(uplink.said.at(-1)).toEqual({
      kind: 'abandoned',
      shard: { runId: 'r', shardIndex: 0, attempt: 1 },
      sent: 7,
    });
    expect(attempts.list()).toEqual([]);
  });

  it('forgets the frames of an ended attempt that nobody acknowledges for long', async () => {
    const { attempts, slots } = bench({ keepEndedMs: 5 });
    const carried = attempts.carryOut(shardOf('r1'));
    slots[0]?.interval(0, true);
    slots[0]?.end();
    await carried;
    await attempts.settled(10_000);
    expect(attempts.list()).toEqual([]);
  });
});
