import { type FailureClass, gaugeOf, type Shard } from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import { reply } from '../testing/raw-target.js';
import { shardFor } from '../testing/run-shard-against.js';
import { FUZZ_SEED, seededRandom } from '../testing/seeded-random.js';
import { answersAfter, opens, simulate } from '../testing/simulate.js';
import type { NetworkEvent, NetworkScript } from '../testing/simulated-network.js';
import { CLOSE_CAUSE, type CloseCause } from '../transport/transport.js';

describe('failures to connect', () => {
  const classOf: [CloseCause, FailureClass][] = [
    [CLOSE_CAUSE.refused, 'connectRefused'],
    [CLOSE_CAUSE.timeout, 'connectTimeout'],
    [CLOSE_CAUSE.unreachable, 'connectUnreachable'],
    [CLOSE_CAUSE.noLocalPort, 'noLocalPort'],
    [CLOSE_CAUSE.noDescriptor, 'noDescriptor'],
    [CLOSE_CAUSE.tls, 'tls'],
    [CLOSE_CAUSE.reset, 'connectOther'],
    [CLOSE_CAUSE.other, 'connectOther'],
  ];

  it.each(classOf)('cause %i is %s', async (cause, failureClass) => {
    let attempts = 0;
    const onOpen: NetworkScript['onOpen'] = () =>
      attempts++ === 1 ? { afterUs: 9, cause, errno: 5 } : opens();
    const shard = shardFor(1, { requests: 20, connections: 2 });
    const run = await simulate(shard, { onOpen, onSend: answersAfter(100) });
    expect(run.failures).toEqual({ [failureClass]: 1 });
    expect([run.count('completed'), run.count('connectionsFailed'), run.network.sends]).toEqual([19, 1, 19]);
  });

  it('gives up an attempt that gets no answer within the timeout', async () => {
    let attempts = 0;
    const onOpen: NetworkScript['onOpen'] = () => (attempts++ === 0 ? undefined : opens());
    const shard = shardFor(1, { requests: 3, timeoutMs: 700 });
    const run = await simulate(shard, { onOpen, onSend: answersAfter(100) });
    expect(run.failures).toEqual({ connectTimeout: 1 });
    expect(run.network.elapsedUs).toBeGreaterThanOrEqual(700_000);
    expect(run.network.elapsedUs).toBeLessThan(800_000);
  });

  it('ends a counted load whose target died after a while, and not before', async () => {
    let attempts = 0;
    const refused = { afterUs: 50, cause: CLOSE_CAUSE.refused, errno: 111 };
    const onOpen: NetworkScript['onOpen'] = () => (attempts++ < 2 ? opens() : refused);
    const end = { afterUs: 0, cause: CLOSE_CAUSE.ended, errno: 0 };
    const onSend = (): NetworkEvent[] => [{ afterUs: 1_000_000, bytes: reply(10) }, end];
    const shard = shardFor(1, { requests: 100_000, connections: 2, timeoutMs: 2_000 });
    const run = await simulate(shard, { onOpen, onSend });
    expect(run.end.fatal).toMatchObject({ failureClass: 'connectRefused', code: 'ECONNREFUSED' });
    expect(run.network.elapsedUs / 1e6).toBeGreaterThan(10.9);
    expect(run.network.elapsedUs / 1e6).toBeLessThan(13);
    // Two connections, each soon at one attempt per second.
    expect(run.count('connectRefused')).toBeLessThan(45);
  });
});

describe('losses in mid-request', () => {
  it.each<[CloseCause, boolean, FailureClass]>([
    [CLOSE_CAUSE.write, false, 'write'],
    [CLOSE_CAUSE.tls, true, 'tls'],
    [CLOSE_CAUSE.timeout, false, 'timeout'],
    [CLOSE_CAUSE.reset, false, 'resetBeforeFirstByte'],
    [CLOSE_CAUSE.reset, true, 'resetAfterFirstByte'],
    [CLOSE_CAUSE.other, true, 'resetAfterFirstByte'],
    [CLOSE_CAUSE.ended, false, 'closedWithoutReplyNew'],
    [CLOSE_CAUSE.ended, true, 'truncated'],
  ])('cause %i, first byte seen: %s is %s', async (cause, hasFirstByte, failureClass) => {
    const start: NetworkEvent[] = hasFirstByte ? [{ afterUs: 10, bytes: 'HTTP/1.1 2' }] : [];
    const onSend = (): NetworkEvent[] => [...start, { afterUs: 10, cause, errno: 0 }];
    const run = await simulate(shardFor(1, { requests: 6, connections: 2 }), { onOpen: opens, onSend });
    expect(run.failures).toEqual({ [failureClass]: 6 });
    expect(run.count('connectionsClosedUnannounced')).toBe(6);
  });
});

describe('bytes that nobody asked for', () => {
  it('are no reply when they are there before the request: it is not sent, and fails', async () => {
    let attempts = 0;
    const run = await simulate(shardFor(1, { requests: 6, connections: 2 }), {
      onOpen: () => ({ afterUs: 300, hasInput: attempts++ < 4 }),
      onSend: answersAfter(100),
    });
    expect(run.failures).toEqual({ malformed: 4 });
    expect([run.count('completed'), run.network.sends, run.network.opened]).toEqual([2, 2, 6]);
    expect(run.count('connectionsClosedByUs')).toBe(6);
  });

  it('end a connection that is idle, once, and the next request goes out on another', async () => {
    const late = { afterUs: 20_000, bytes: reply(10) };
    const pacing = { arrivals: 'constant', seed: 1, rate: 10, firstIndex: 0, stride: 1 } as const;
    const shard = shardFor(1, { requests: 5, pacing });
    const run = await simulate(shard, {
      onOpen: opens,
      onSend: () => [{ afterUs: 1_000, bytes: reply(10) }, late, late],
    });
    expect(run.failures).toEqual({});
    expect([run.count('completed'), run.network.sends, run.network.opened]).toEqual([5, 5, 5]);
    // The last one comes when the load is over.
    expect(run.count('repliesWithSurplus')).toBe(4);
  });

  it('end a connection whose close is awaited, at once', async () => {
    const closing = reply(10, { lines: ['Connection: close'] });
    const run = await simulate(shardFor(1, { requests: 3 }), {
      onOpen: opens,
      onSend: () => [
        { afterUs: 1_000, bytes: closing },
        { afterUs: 1_000, bytes: 'surplus' },
      ],
    });
    expect([run.count('completed'), run.count('connectionsLeftToUs')]).toEqual([3, 0]);
    expect(run.count('repliesWithSurplus')).toBe(2);
  });
});

describe('latencies', () => {
  it('are exact: connect, wait for the first byte, and total on new and on reused connections', async () => {
    const onSend = (): NetworkEvent[] => [
      { afterUs: 400, bytes: reply(10).slice(0, 5) },
      { afterUs: 600, bytes: reply(10).slice(5) },
    ];
    const run = await simulate(shardFor(1, { requests: 10, connections: 2 }), { onOpen: opens, onSend });
    const seen = (['connect', 'wait', 'fresh', 'freshProcessing', 'reused'] as const).map((name) => {
      const { minUs, maxUs, total } = run.histogram(name);
      return [name, total, minUs, maxUs];
    });
    expect(seen).toEqual([
      ['connect', 2, 300, 300],
      ['wait', 10, 400, 400],
      ['fresh', 2, 1_300, 1_300],
      ['freshProcessing', 2, 1_000, 1_000],
      ['reused', 8, 1_000, 1_000],
    ]);
    expect(gaugeOf(run.end.totals, 'firstSendUs')).toBe(0);
    expect(gaugeOf(run.end.totals, 'lastEventUs')).toBe(5_300);
  });

  it('belong to the interval in which the reply ended', async () => {
    const shard = shardFor(1, { requests: 6 });
    const run = await simulate(shard, { onOpen: opens, onSend: answersAfter(400_000) });
    expect(run.intervals.map((i) => i.histograms[1]?.counts.reduce((a, b) => a + b, 0))).toEqual([2, 2, 2]);
    expect(run.intervals.map((i) => Math.floor(gaugeOf(i, 'lastEventUs') / 1e6))).toEqual([0, 1, 2]);
  });
});

describe('end of a timed load', () => {
  it('gives requests in flight one second and then counts them as in flight', async () => {
    const durations = [900_000, 1_100_000].map((afterUs) =>
      simulate(shardFor(1, { durationMs: 10, timeoutMs: 30_000 }), {
        onOpen: opens,
        onSend: answersAfter(afterUs),
      }),
    );
    const [quick, slow] = await Promise.all(durations);
    expect([quick?.count('completed'), quick?.count('inFlightAtEnd')]).toEqual([1, 0]);
    expect([slow?.count('completed'), slow?.count('inFlightAtEnd')]).toEqual([0, 1]);
  });
});

/** Anything that a network and a target can do, from a seed. */
class Chaos implements NetworkScript {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  upTo(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  onOpen(): ReturnType<NetworkScript['onOpen']> {
    const dice = this.upTo(12);
    if (dice === 0) return undefined;
    if (dice > 2) return { afterUs: this.upTo(2_000) };
    return { afterUs: this.upTo(2_000), cause: this.#cause(), errno: this.upTo(140) };
  }

  onSend(): readonly NetworkEvent[] {
    const events: NetworkEvent[] = [];
    const text = this.#reply();
    for (let at = 0; at < text.length; ) {
      const size = this.upTo(3) === 0 ? 1 + this.upTo(text.length - at) : text.length - at;
      events.push({ afterUs: this.upTo(4) * this.upTo(20_000), bytes: text.slice(at, at + size) });
      at += size;
    }
    const keeps = this.upTo(3) > 0;
    if (!keeps) events.push({ afterUs: this.upTo(3_000), cause: this.#cause(), errno: this.upTo(140) });
    return events.slice(0, this.upTo(6) === 0 ? this.upTo(events.length + 1) : events.length);
  }

  #cause(): CloseCause {
    const causes = Object.values(CLOSE_CAUSE);
    return causes[this.upTo(causes.length)] ?? CLOSE_CAUSE.other;
  }

  #reply(): string {
    const plain = reply(this.upTo(50), { status: this.upTo(4) === 0 ? 503 : 200 });
    const kinds = [
      reply(5, { lines: ['Connection: close'] }),
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
      'HTTP/1.1 200 OK\r\n\r\nuntil the end',
      `${plain}surplus`,
      'not HTTP at all',
      `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(3_000)}\r\n\r\n`,
      '',
    ];
    return kinds[this.upTo(kinds.length * 2)] ?? plain;
  }
}

/** Any kind of load that can be asked for. */
function randomLoad(chaos: Chaos, connections: number): Partial<Shard> {
  const kind = chaos.upTo(4);
  const pipeline = chaos.upTo(2) === 0 ? 1 : 1 + chaos.upTo(6);
  const common = {
    ...(pipeline === 1 ? {} : { pipeline }),
    ...(chaos.upTo(3) === 0 ? { retryIdempotent: true } : {}),
    ...(chaos.upTo(4) === 0 ? { warmupMs: 1_000 * (1 + chaos.upTo(2)) } : {}),
  };
  if (kind === 0) {
    return {
      ...common,
      connectionStages: [1, 2, 3].map(() => ({
        durationMs: 1 + chaos.upTo(900),
        connections: chaos.upTo(connections + 1),
      })),
    };
  }
  if (kind > 1) return common;
  return {
    ...common,
    pacing: {
      arrivals: chaos.upTo(2) === 0 ? 'constant' : 'poisson',
      seed: chaos.upTo(1_000),
      rate: 1 + chaos.upTo(600),
      firstIndex: chaos.upTo(3),
      stride: 1 + chaos.upTo(3),
    },
  };
}

describe(`chaos (FUZZ_SEED=${FUZZ_SEED})`, () => {
  it('never sends more than the budget, books every request once, and ends within bounds', async () => {
    for (let round = 0; round < 600; round++) {
      const chaos = new Chaos(FUZZ_SEED + round);
      const connections = 1 + chaos.upTo(5);
      const requests = connections + chaos.upTo(60);
      const load = randomLoad(chaos, connections);
      const isTimed = chaos.upTo(3) === 0 || load.connectionStages !== undefined;
      const shard = shardFor(1, {
        connections,
        ...(isTimed && chaos.upTo(2) === 0 ? {} : { requests }),
        ...(isTimed ? { durationMs: 1 + chaos.upTo(3_000) } : {}),
        timeoutMs: 200,
        keepAlive: chaos.upTo(3) > 0 || load.pipeline !== undefined,
        maxReplyHeaderBytes: 2_000,
        onSocketError: chaos.upTo(5) === 0 ? 'stop' : 'continue',
        checkLength: chaos.upTo(2) === 0,
        probe: chaos.upTo(3) === 0,
        ...load,
      });
      // The books are checked by the call itself.
      const run = await simulate(shard, chaos);
      const budget = shard.requests ?? Number.POSITIVE_INFINITY;
      const { warmupMs = 0, pacing } = shard;
      expect(run.count('sent')).toBeLessThanOrEqual(budget);
      if (warmupMs === 0)
        expect(run.network.sends).toBeLessThanOrEqual(run.count('sent') + run.count('retried'));
      const hasAll = run.end.fatal === undefined && (run.probed?.ok ?? true) && !isTimed;
      expect(hasAll ? run.count('sent') + run.count('notSentNoConnection') : budget).toBe(budget);
      // One request takes its timeout, a back-off of at most 1 s and a linger at most; the probe comes before.
      const paceUs = pacing === undefined ? 0 : ((requests + 3) * pacing.stride * 20e6) / pacing.rate;
      const boundUs = isTimed
        ? (shard.durationMs ?? 0) * 1_000 + 1_500_000
        : (requests + 1) * 1_400_000 + paceUs;
      expect(run.network.elapsedUs).toBeLessThan(boundUs + 500_000 + warmupMs * 1_000);
    }
  });
});
