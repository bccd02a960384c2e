// Schedules and pipelines must not depend on the transport either: the same requests at the same planned times, and
// of each request its own latency. What is compared holds on any machine, however busy: no time is bounded from above
// but by the run's own.

import { chooseTransport, TRANSPORT_WISHES, type TransportName } from '@broadside/engine';
import type { Latency, Shard } from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import { shardFor } from '../../libs/engine/dist/testing/run-shard-against.js';
import type { ShardOutcome } from '../../libs/engine/dist/testing/shard-thread.js';
import { StampingTarget } from '../targets/stamping-target.js';
import { runInThread } from './shard-runner.js';

const available: TransportName[] = [];
for (const wish of TRANSPORT_WISHES) {
  const { name } = await chooseTransport(wish);
  if (name === wish) available.push(name);
}

interface Shot {
  readonly outcome: ShardOutcome;
  readonly target: StampingTarget;
}

async function fireAt(delayMs: number, transport: TransportName, overrides: Partial<Shard>): Promise<Shot> {
  const target = new StampingTarget(delayMs);
  const port = await target.start();
  try {
    return { outcome: await runInThread({ shard: shardFor(port, overrides), transport }), target };
  } finally {
    await target.stop();
  }
}

/** The value of this rank, as a histogram finds it. */
function rankOf(values: readonly number[], percentile: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(Math.ceil((percentile / 100) * sorted.length) - 1, 0)] ?? 0;
}

const sumUs = ({ count, meanUs }: Latency): number => count * meanUs;

function paced(more: Partial<NonNullable<Shard['pacing']>>): NonNullable<Shard['pacing']> {
  return { arrivals: 'constant', seed: 7, rate: 100, firstIndex: 0, stride: 1, ...more };
}

describe.each(available)('a schedule over %s', (transport) => {
  it.each([
    ['a constant rate', { pacing: paced({ rate: 200 }), durationMs: 1_000 }, 200],
    ['a part of one', { pacing: paced({ rate: 200, firstIndex: 1, stride: 4 }), durationMs: 1_000 }, 50],
    ['less than one per second', { pacing: paced({ rate: 0.5, firstIndex: 1 }), requests: 1 }, 1],
    ['random arrivals', { pacing: paced({ arrivals: 'poisson', rate: 200 }), requests: 150 }, 150],
    [
      'stages',
      { pacing: paced({ rate: 0, stages: [{ durationMs: 1_000, rate: 200 }] }), durationMs: 1_000 },
      100,
    ],
  ])('sends what was planned, with both latencies of each: %s', async (_what, load, planned) => {
    const { outcome, target } = await fireAt(2, transport, { connections: 8, timeoutMs: 30_000, ...load });
    const { counters, histograms } = outcome;
    expect(outcome.transport).toBe(transport);
    expect([counters.planned, counters.sent, counters.completed]).toEqual([planned, planned, planned]);
    expect(target.arrivalsUs).toHaveLength(planned);
    const { corrected, sendLag, fresh, reused } = histograms;
    expect([corrected.count, sendLag.count, fresh.count + reused.count]).toEqual([planned, planned, planned]);
    // Corrected is raw and what it was sent late: for the sums that holds exactly, but for whole µs.
    const difference = sumUs(corrected) - sumUs(sendLag) - sumUs(fresh) - sumUs(reused);
    expect(Math.abs(difference)).toBeLessThanOrEqual(3 * planned);
  });

  it('sends nothing before its planned time', async () => {
    const requests = 60;
    const { target, outcome } = await fireAt(1, transport, {
      connections: 4,
      requests,
      timeoutMs: 30_000,
      pacing: paced({ rate: 100 }),
    });
    expect(outcome.counters.completed).toBe(requests);
    // The last is due 590 ms after the start, and the first cannot have come before it.
    const [firstUs = 0] = target.arrivalsUs;
    const startUs = firstUs - outcome.histograms.sendLag.maxUs - outcome.histograms.fresh.maxUs;
    for (const [i, arrivalUs] of target.arrivalsUs.entries()) {
      expect(arrivalUs).toBeGreaterThanOrEqual(startUs + i * 10_000);
    }
  });
});

describe.each(available)('a pipeline over %s', (transport) => {
  it.each([1, 16])('%i deep gives each request its own latency', async (pipeline) => {
    const connections = 2;
    const requests = 320;
    // A timer of 2 ms is at most 1 ms early.
    const { outcome, target } = await fireAt(2, transport, {
      connections,
      requests,
      timeoutMs: 60_000,
      ...(pipeline === 1 ? {} : { pipeline }),
    });
    const { counters, histograms, elapsedMs } = outcome;
    expect([counters.completed, counters.keepAliveReplies]).toEqual([requests, requests]);
    const { fresh, reused } = histograms;
    expect(fresh.count + reused.count).toBe(requests);
    // Not less than the target itself needed: at every rank.
    for (const percentile of [50, 90, 99, 100]) {
      expect(Math.max(rankedUs(reused, percentile), fresh.maxUs)).toBeGreaterThanOrEqual(
        rankOf(target.stampsUs, percentile),
      );
    }
    expect(sumUs(fresh) + sumUs(reused)).toBeGreaterThanOrEqual(
      target.stampsUs.reduce((sum, us) => sum + us, 0) - requests,
    );
    // Not more than there was time for: never more than so many are in flight.
    expect(sumUs(fresh) + sumUs(reused)).toBeLessThanOrEqual(elapsedMs * 1_000 * connections * pipeline);
    // A full pipeline: a request waits for the 15 before it, but for those of the first fill.
    if (pipeline === 16) expect(reused.p50Us).toBeGreaterThanOrEqual(15_000);
  });
});

function rankedUs(latency: Latency, percentile: number): number {
  if (percentile === 50) return latency.p50Us;
  if (percentile === 90) return latency.p90Us;
  return percentile === 99 ? latency.p99Us : latency.maxUs;
}
