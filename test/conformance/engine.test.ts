// What the engine reports must not depend on the transport that it runs over.

import { chooseTransport, TRANSPORT_WISHES, type TransportName } from '@broadside/engine';
import type { Shard } from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import { shardFor } from '../../libs/engine/dist/testing/run-shard-against.js';
import type { ShardOutcome } from '../../libs/engine/dist/testing/shard-thread.js';
import { misbehavingTargets, unusualTargets } from '../targets/all-targets.js';
import { RepeatingTarget } from '../targets/repeating-target.js';
import type { Target } from '../targets/target-server.js';
import { WellBehavedTarget } from '../targets/well-behaved-target.js';
import { runInProcess, runInThread } from './shard-runner.js';

const others: TransportName[] = [];
for (const wish of TRANSPORT_WISHES) {
  const { name } = await chooseTransport(wish);
  if (name === wish && name !== 'socket') others.push(name);
}
const all: readonly TransportName[] = ['socket', ...others];

/** Outcomes that depend on which of two packets is seen first, with any transport: told as one. */
const RACES: Readonly<Record<string, readonly (keyof ShardOutcome['counters'])[]>> = {
  'resets: at-accept': ['resetBeforeFirstByte', 'connectOther', 'write'],
  'resets: before-first-byte': ['resetBeforeFirstByte', 'write'],
  'closes: close-after-reply': ['resetBeforeFirstByte', 'closedWithoutReplyReused', 'write'],
  'closes: after-reply': ['resetBeforeFirstByte', 'closedWithoutReplyReused', 'write'],
};

/** Enough for the engine's own modules, which Node opens all at once, and not for all connections. */
const DESCRIPTORS = 300;

async function withStarted<T>(target: Target, use: (port: number) => Promise<T>): Promise<T> {
  const { port } = await target.start();
  try {
    return await use(port);
  } finally {
    await target.stop();
  }
}

function shardAt(port: number, overrides: Partial<Shard> = {}): Shard {
  return shardFor(port, {
    requests: 8,
    connections: 2,
    timeoutMs: 400,
    ...overrides,
  });
}

/** What endless replies are cut off by is their size, however slow the machine is; all others by the short timeout. */
const ENDLESS: Partial<Shard> = { timeoutMs: 60_000, maxReplyBodyBytes: 500_000 };

/** The part of an outcome that has to be equal. */
function essenceOf(name: string, { counters, statuses, fatal }: ShardOutcome): unknown {
  const racing = RACES[name] ?? [];
  const essence: Record<string, unknown> = { statuses };
  for (const key of ['planned', 'sent', 'completed', 'non2xx', 'inFlightAtEnd'] as const) {
    essence[key] = counters[key];
  }
  essence['racing'] = racing.reduce((sum, key) => sum + counters[key], 0);
  const classes = Object.entries(counters).slice(Object.keys(counters).indexOf('connectRefused'));
  for (const [key, count] of classes) {
    if (!racing.some((name) => name === key)) essence[key] = count;
  }
  essence['isFatal'] = fatal !== undefined;
  return essence;
}

describe.runIf(others.length > 0)('the engine over every transport', () => {
  for (const [name, create] of [...misbehavingTargets, ...unusualTargets]) {
    it(`reports the same of a target that ${name}`, async () => {
      const outcomes = new Map<TransportName, unknown>();
      for (const transport of all) {
        const overrides = name.startsWith('endless') ? ENDLESS : {};
        const outcome = await withStarted(create(), (port) =>
          runInThread({ shard: shardAt(port, overrides), transport }),
        );
        expect(outcome.transport).toBe(transport);
        outcomes.set(transport, essenceOf(name, outcome));
      }
      for (const transport of others) expect(outcomes.get(transport)).toEqual(outcomes.get('socket'));
    });
  }
});

describe.each(all)('the engine over %s', (transport) => {
  it('stops at the end of its time and reports each second', async () => {
    const outcome = await withStarted(new WellBehavedTarget(), (port) => {
      const shard = shardFor(port, { durationMs: 1_300, connections: 5, timeoutMs: 2_000 });
      return runInThread({ shard, transport });
    });
    expect(outcome.intervals).toBe(2);
    expect(outcome.counters.completed).toBeGreaterThan(50);
    expect(outcome.failures).toEqual({});
  });

  it('takes a reply that comes again while nothing is in flight for no reply', async () => {
    const target = new RepeatingTarget();
    const outcome = await withStarted(target, (port) => {
      const pacing = { arrivals: 'constant', seed: 1, rate: 4, firstIndex: 0, stride: 1 } as const;
      return runInThread({ shard: shardFor(port, { requests: 4, pacing }), transport });
    });
    const { completed, sent, repliesWithSurplus, connectionsClosedByUs } = outcome.counters;
    expect([completed, sent, target.counters.requestsSeen]).toEqual([4, 4, 4]);
    expect(outcome.failures).toEqual({});
    // The load is over before the last one comes.
    expect([repliesWithSurplus, connectionsClosedByUs, target.counters.connectionsAccepted]).toEqual([
      3, 4, 4,
    ]);
  });

  it('makes no descriptor a failure class of its own, and closes every descriptor it opened', async () => {
    const outcomes = await withStarted(new WellBehavedTarget(), (port) => {
      const limited = shardFor(port, { durationMs: 400, connections: 400, timeoutMs: 2_000 });
      const plain = shardFor(port, { requests: 300, connections: 20, keepAlive: false });
      return runInProcess(
        [plain, limited, plain].map((shard) => ({ shard, transport })),
        DESCRIPTORS,
      );
    });
    const [first, second, third] = outcomes;
    expect(first?.counters.completed).toBe(300);
    expect(second?.failures.noDescriptor).toBeGreaterThan(0);
    expect(second?.counters.completed).toBeGreaterThan(0);
    expect(third?.counters.completed).toBe(300);
    expect(third?.descriptors[1]).toBeLessThanOrEqual(first?.descriptors[1] ?? 0);
  });
});
