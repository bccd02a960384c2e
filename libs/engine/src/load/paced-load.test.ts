import { dealByWeights, gaugeOf, HISTOGRAM, type Shard } from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import { encodeRequest } from '../encode-request.js';
import { reply } from '../testing/raw-target.js';
import { shardFor } from '../testing/run-shard-against.js';
import { answersAfter, opens, simulate } from '../testing/simulate.js';
import { type NetworkEvent, type NetworkScript, START_US } from '../testing/simulated-network.js';
import { CLOSE_CAUSE } from '../transport/transport.js';

function paced(rate: number, more: Partial<Shard> = {}): Shard {
  const pacing = { arrivals: 'constant', seed: 1, rate, firstIndex: 0, stride: 1 } as const;
  return shardFor(1, { connections: 10, durationMs: 10_000, pacing, ...more });
}

/** A target that answers after so long, but for the fifth second of every ten, in which it does nothing. */
function freezing(usualUs: number): NetworkScript {
  return {
    onOpen: opens,
    onSend: (_, nowUs) => {
      const inCycleUs = (nowUs - START_US) % 10e6;
      const isMet = inCycleUs + usualUs > 4e6 && inCycleUs < 5e6;
      const frozenUs = isMet ? 5e6 - Math.max(inCycleUs, 4e6) : 0;
      return [{ afterUs: usualUs + frozenUs, bytes: reply(10) }];
    },
  };
}

describe('shards with weights', () => {
  it('send the whole schedule together, each its own numbers of each round', async () => {
    const weights = [5, 2, 3];
    const { round, lanes } = dealByWeights(weights);
    const sendsUs: number[] = [];
    for (const own of lanes) {
      const pacing = {
        arrivals: 'constant' as const,
        seed: 1,
        rate: 100,
        firstIndex: own[0] ?? 0,
        stride: round,
        lanes: [...own],
      };
      const run = await simulate(paced(100, { pacing, shardCount: 3, connections: 1 }), {
        onOpen: opens,
        onSend: (_, nowUs) => {
          sendsUs.push(nowUs - START_US);
          return [{ afterUs: 100, bytes: reply(10) }];
        },
      });
      expect(run.count('sent')).toBe(100 * own.length);
    }
    const planned = sendsUs.map((us) => Math.floor(us / 10_000)).toSorted((a, b) => a - b);
    expect(planned).toEqual(Array.from({ length: 1_000 }, (_, i) => i));
  });
});

describe('a constant rate', () => {
  it('sends at the planned times, exactly, over as few connections as are needed', async () => {
    const sendsUs: number[] = [];
    const run = await simulate(paced(100), {
      onOpen: opens,
      onSend: (_, nowUs) => {
        sendsUs.push(nowUs - START_US);
        return [{ afterUs: 5_000, bytes: reply(10) }];
      },
    });
    // The first one waits for its connection.
    expect(sendsUs).toEqual([300, ...Array.from({ length: 999 }, (_, i) => (i + 1) * 10_000)]);
    expect([run.count('planned'), run.count('sent'), run.count('completed')]).toEqual([1_000, 1_000, 1_000]);
    expect(run.count('connectionsOpened')).toBe(1);
    expect(run.histogram('corrected')).toMatchObject({ total: 1_000, minUs: 5_000, maxUs: 5_300 });
    expect(run.histogram('sendLag')).toMatchObject({ total: 1_000, maxUs: 0 });
    expect(run.intervals.slice(0, 10).map((i) => i.counters[0])).toEqual(
      Array.from({ length: 10 }, () => 100),
    );
  });

  it('of 1 per second over 8 shards is 30 sends in 30 s, one each second', async () => {
    const sendsUs: number[] = [];
    const script: NetworkScript = {
      onOpen: () => ({ afterUs: 0 }),
      onSend: (_, nowUs) => {
        sendsUs.push(nowUs - START_US);
        return [{ afterUs: 100, bytes: reply(1) }];
      },
    };
    for (let k = 0; k < 8; k++) {
      const pacing = { arrivals: 'constant', seed: 1, rate: 1, firstIndex: k, stride: 8 } as const;
      const shard = paced(1, { shardIndex: k, shardCount: 8, connections: 1, durationMs: 30_000, pacing });
      const run = await simulate(shard, script);
      expect(gaugeOf(run.end.totals, 'lastEventUs')).toBeLessThan(30e6);
    }
    expect(sendsUs.sort((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, i) => i * 1e6));
  });

  it('ends with its last request when it has a number of them', async () => {
    const { durationMs: _, ...shard } = paced(50, { requests: 100 });
    const run = await simulate(shard, { onOpen: opens, onSend: answersAfter(1_000) });
    expect([run.count('planned'), run.count('completed')]).toEqual([100, 100]);
    expect(run.network.elapsedUs).toBeCloseTo(99 * 20_000 + 1_000, -1);
  });

  it('counts what its duration left over of a number of requests', async () => {
    const run = await simulate(paced(50, { requests: 1_000 }), {
      onOpen: opens,
      onSend: answersAfter(1_000),
    });
    expect([run.count('planned'), run.count('sent'), run.count('notSentTimeOver')]).toEqual([
      1_000, 500, 500,
    ]);
  });

  it('counts what was left over when it was stopped', async () => {
    const run = await simulate(
      paced(50, { requests: 1_000 }),
      { onOpen: opens, onSend: answersAfter(1_000) },
      { onInterval: (interval, stop) => interval.number === 1 && stop() },
    );
    expect(run.count('planned')).toBe(1_000);
    expect(run.count('notSentStopped')).toBe(1_000 - run.count('sent'));
    expect(run.count('sent')).toBeLessThan(110);
  });
});

describe('a target that freezes for 1 s every 10 s', () => {
  const rate = 200;
  const usualUs = 2_000;

  it('shows in the corrected latency as the schedule says, and not in the raw median', async () => {
    const shard = paced(rate, { connections: 4, durationMs: 60_000 });
    const run = await simulate(shard, freezing(usualUs));
    const corrected = run.histogram('corrected');
    expect(corrected.total).toBe(rate * 60);
    expect(run.count('planned')).toBe(rate * 60);
    // Due in a freeze: 200 of every 2000 requests wait for its end, evenly from 1 s down to nothing; the
    // backlog behind it drains at 2000/s over 4 connections, which adds up to 100 ms and 20 requests.
    const frozen = corrected.total - corrected.counts.slice(0, 2_100).reduce((a, b) => a + b, 0);
    expect(frozen / 6).toBeGreaterThanOrEqual(200);
    expect(frozen / 6).toBeLessThanOrEqual(225);
    // 1 % of 2000 are the 20 that wait longest: those due in the first tenth of the freeze.
    expect(Math.abs(corrected.percentileUs(99) - 910_000)).toBeLessThan(15_000);
    expect(Math.abs(corrected.percentileUs(95) - 550_000)).toBeLessThan(15_000);
    // Raw hides it: only the requests in flight on the four connections met each freeze.
    const raw = run.histogram('reused');
    expect(raw.percentileUs(50)).toBe(usualUs);
    expect(raw.percentileUs(99)).toBe(usualUs);
    expect(raw.maxUs).toBeGreaterThan(990_000);
    expect(raw.total + run.histogram('fresh').total).toBe(corrected.total);
    expect(run.histogram('sendLag').percentileUs(99)).toBeGreaterThan(850_000);
    expect(run.count('waitedForConnection')).toBeGreaterThan(6 * 190);
  });

  it('is planned on in every second, and sent afterwards', async () => {
    const run = await simulate(paced(rate, { connections: 4, durationMs: 20_000 }), freezing(usualUs));
    const planned = run.intervals.map((interval) => interval.counters[0]);
    expect(planned.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => rate));
    const lag = run.intervals[4]?.histograms[HISTOGRAM.sendLag];
    expect(lag?.counts.reduce((a, b) => a + b, 0)).toBeLessThanOrEqual(4);
    expect(gaugeOf(run.intervals[5] ?? run.end.totals, 'sendLagMaxUs')).toBeGreaterThan(950_000);
  });
});

describe('more than the target can do', () => {
  it('reaches what a closed load reaches, and gives up what waits longer than the timeout', async () => {
    const script = { onOpen: opens, onSend: answersAfter(10_000) };
    const closed = await simulate(shardFor(1, { connections: 4, durationMs: 20_000 }), script);
    const run = await simulate(
      paced(4_000, { connections: 4, durationMs: 20_000, timeoutMs: 2_000 }),
      script,
    );
    expect(run.count('completed')).toBeGreaterThanOrEqual(closed.count('completed') - 4);
    expect(run.count('planned')).toBe(80_000);
    expect(run.count('notSentNoConnection')).toBe(80_000 - run.count('sent'));
    expect(run.histogram('sendLag').maxUs).toBeLessThanOrEqual(2_000_000);
    // Its last requests are those that were due two seconds ago.
    expect(run.histogram('sendLag').percentileUs(50)).toBeGreaterThan(1_900_000);
  });

  it('still sends what a stall at the very end held up, within the grace that replies have', async () => {
    const script: NetworkScript = {
      onOpen: opens,
      onSend: (_, nowUs) => {
        const elapsedUs = nowUs - START_US;
        const isFrozen = elapsedUs > 9.7e6 && elapsedUs < 10.2e6;
        return [{ afterUs: 1_000 + (isFrozen ? 10.2e6 - elapsedUs : 0), bytes: reply(10) }];
      },
    };
    const run = await simulate(paced(100, { connections: 2 }), script);
    expect([run.count('planned'), run.count('sent'), run.count('completed')]).toEqual([1_000, 1_000, 1_000]);
    expect(run.histogram('corrected').maxUs).toBeGreaterThan(480_000);
    expect(run.network.elapsedUs).toBeLessThan(10.4e6);
  });

  it('names the missing connection as the reason for what was due at the end', async () => {
    const run = await simulate(paced(10, { connections: 1, durationMs: 1_000, timeoutMs: 60_000 }), {
      onOpen: opens,
      onSend: () => [],
    });
    expect([run.count('planned'), run.count('sent'), run.count('inFlightAtEnd')]).toEqual([10, 1, 1]);
    expect([run.count('notSentNoConnection'), run.count('notSentTimeOver')]).toEqual([9, 0]);
  });
});

describe('connections of a paced load', () => {
  it('are replaced when they are lost, and their requests counted once', async () => {
    let sends = 0;
    const run = await simulate(paced(100, { durationMs: 2_000 }), {
      onOpen: opens,
      onSend: () =>
        ++sends % 20 === 0
          ? [{ afterUs: 1_000, cause: CLOSE_CAUSE.ended, errno: 0 }]
          : [{ afterUs: 1_000, bytes: reply(10) }],
    });
    expect(run.count('sent')).toBe(200);
    expect(run.failures).toEqual({ closedWithoutReplyReused: 10 });
    expect(run.histogram('servedClosedUnannounced')).toMatchObject({ total: 10, minUs: 19, maxUs: 19 });
  });

  it('that the target closes while they are idle fail no request', async () => {
    const run = await simulate(paced(10, { durationMs: 2_000 }), {
      onOpen: opens,
      onSend: () => [
        { afterUs: 1_000, bytes: reply(10) },
        { afterUs: 50_000, cause: CLOSE_CAUSE.ended, errno: 0 },
      ],
    });
    expect([run.count('completed'), run.count('connectionsClosedIdle')]).toEqual([20, 20]);
    expect(run.failures).toEqual({});
    expect(run.histogram('servedClosedIdle')).toMatchObject({ total: 20, minUs: 1, maxUs: 1 });
  });

  it('back off from a dead target, and what finds none is counted', async () => {
    const refused = { afterUs: 50, cause: CLOSE_CAUSE.refused, errno: 111 };
    let opened = 0;
    const run = await simulate(paced(100, { durationMs: 5_000, connections: 2, timeoutMs: 1_000 }), {
      onOpen: () => (opened++ < 1 ? opens() : refused),
      onSend: () => [
        { afterUs: 100, bytes: reply(1) },
        { afterUs: 100, cause: CLOSE_CAUSE.ended, errno: 0 },
      ],
    });
    expect(run.count('planned')).toBe(500);
    expect(run.count('connectionsAsked')).toBeLessThan(30);
    expect(run.count('notSentNoConnection')).toBeGreaterThan(460);
  });

  it('carry several requests each where the plan has a pipeline', async () => {
    const run = await simulate(paced(1_000, { connections: 2, pipeline: 8, durationMs: 2_000 }), {
      onOpen: opens,
      onSend: answersAfter(1_500),
    });
    expect([run.count('completed'), run.count('planned'), run.count('notSentNoConnection')]).toEqual([
      run.count('sent'),
      2_000,
      2_000 - run.count('sent'),
    ]);
    // Two connections, each answering one after the other every 1.5 ms.
    expect(run.count('completed')).toBeGreaterThan(1_990);
    expect(run.count('connectionsOpened')).toBe(2);
  });
});

describe('warm-up', () => {
  it('runs before the duration at the same rate, is marked, and is in no total', async () => {
    const run = await simulate(paced(100, { warmupMs: 3_000, durationMs: 5_000 }), {
      onOpen: opens,
      onSend: answersAfter(15_000),
    });
    expect(run.intervals.map((interval) => interval.isWarmup === true)).toEqual([
      true,
      true,
      true,
      ...Array.from({ length: run.intervals.length - 3 }, () => false),
    ]);
    expect(run.intervals.slice(0, 8).map((interval) => interval.counters[0])).toEqual(
      Array.from({ length: 8 }, () => 100),
    );
    expect([run.count('planned'), run.count('sent'), run.count('completed')]).toEqual([500, 500, 500]);
    expect(run.histogram('corrected').total).toBe(500);
    // The connections were opened in the warm-up, and are taken over.
    expect(run.histogram('connect').total).toBe(0);
    expect([run.count('connectionsOpened'), run.count('connectionsClosedByUs')]).toEqual([2, 2]);
  });

  it('does not use up the requests of a closed load, and forgets what it left in flight', async () => {
    const run = await simulate(shardFor(1, { connections: 3, requests: 100, warmupMs: 2_000 }), {
      onOpen: opens,
      onSend: answersAfter(70_000),
    });
    expect([run.count('planned'), run.count('sent'), run.count('completed')]).toEqual([100, 100, 100]);
    const inWarmup = run.intervals[0]?.counters[0] ?? 0;
    expect(inWarmup).toBeGreaterThan(40);
  });

  it.each([1, 4])(
    'leaves no byte of its requests in the totals, %i deep in the pipeline',
    async (pipeline) => {
      const shard = shardFor(1, { connections: 3, requests: 120, warmupMs: 1_000, pipeline });
      // The pieces of a reply come on both sides of the boundary, which no 70 ms divide.
      const bytes = reply(10);
      const onSend = (): NetworkEvent[] => [
        { afterUs: 40_000, bytes: bytes.slice(0, 30) },
        { afterUs: 30_000, bytes: bytes.slice(30) },
      ];
      const run = await simulate(shard, { onOpen: opens, onSend });
      expect(run.count('completed')).toBe(120);
      expect(run.count('bytesReceived')).toBe(120 * bytes.length);
      expect(run.count('bodyBytesReceived')).toBe(120 * 10);
      expect(run.count('bytesSent')).toBe(120 * encodeRequest(shard).length);
    },
  );

  it('counts neither the request nor the reply of a connection that was being opened at its end', async () => {
    const shard = shardFor(1, { connections: 2, durationMs: 3_000, warmupMs: 1_000, keepAlive: false });
    const run = await simulate(shard, { onOpen: () => ({ afterUs: 330_000 }), onSend: answersAfter(40_000) });
    expect(run.count('completed')).toBeGreaterThan(0);
    expect(run.count('bytesReceived')).toBe(run.count('completed') * reply(10).length);
    expect(run.count('bytesSent')).toBe(run.count('sent') * encodeRequest(shard).length);
  });

  it('that is stopped leaves a run with nothing measured and balanced books', async () => {
    const run = await simulate(
      shardFor(1, { connections: 3, requests: 100, warmupMs: 5_000 }),
      { onOpen: opens, onSend: answersAfter(70_000) },
      { onInterval: (interval, stop) => interval.number === 1 && stop() },
    );
    expect([run.count('planned'), run.count('sent'), run.count('notSentStopped')]).toEqual([100, 0, 100]);
    expect(run.intervals.at(-1)?.isWarmup).toBeUndefined();
  });

  it('that meets a dead target ends with the fatal error and balanced books', async () => {
    const run = await simulate(shardFor(1, { connections: 3, requests: 100, warmupMs: 5_000 }), {
      onOpen: () => ({ afterUs: 10, cause: CLOSE_CAUSE.refused, errno: 111 }),
      onSend: () => [],
    });
    expect(run.end.fatal?.code).toBe('ECONNREFUSED');
    expect([run.count('planned'), run.count('notSentFatal')]).toEqual([100, 100]);
  });
});

describe('stages of connections', () => {
  it('open and close connections along the line, shared between shards', async () => {
    const connectionStages = [
      { durationMs: 4_000, connections: 8 },
      { durationMs: 2_000, connections: 8 },
      { durationMs: 4_000, connections: 0 },
    ];
    const open = Array.from({ length: 10 }, () => 0);
    for (const shardIndex of [0, 1, 2]) {
      const connections = [3, 3, 2][shardIndex] ?? 0;
      const shard = shardFor(1, {
        shardIndex,
        shardCount: 3,
        connections,
        durationMs: 10_000,
        connectionStages,
      });
      const run = await simulate(shard, { onOpen: opens, onSend: answersAfter(1_000) });
      for (let second = 0; second < 10; second++) {
        open[second] =
          (open[second] ?? 0) + gaugeOf(run.intervals[second] ?? run.end.totals, 'openConnections');
      }
    }
    // At the end of each second, when on the way down one more than 6, 4, 2, 0 is still wanted for a moment.
    expect(open).toEqual([2, 4, 6, 8, 8, 8, 7, 5, 3, 1]);
  });
});
