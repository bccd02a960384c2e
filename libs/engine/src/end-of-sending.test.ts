import { describe, expect, it } from 'vitest';
import { shardFor } from './testing/run-shard-against.js';
import { answersAfter, opens, simulate } from './testing/simulate.js';
import { START_US } from './testing/simulated-network.js';

describe('the end of the sending', () => {
  const script = { onOpen: opens, onSend: answersAfter(1_000) };

  it('comes at the instant that was ordered, and how far off it was is told', async () => {
    const run = await simulate(shardFor(1, { connections: 4, durationMs: 60_000 }), script, {
      onInterval: ({ number }, stop) => number === 0 && stop(START_US + 1_500_000),
    });
    expect(run.network.elapsedUs).toBeCloseTo(1_500_000, -3);
    expect(run.end.stopSkewUs).toBeGreaterThanOrEqual(0);
    expect(run.end.stopSkewUs).toBeLessThan(1_000);
  });

  it('comes with the end of the time, unless the requests were used up before', async () => {
    const timed = await simulate(shardFor(1, { connections: 4, durationMs: 2_000 }), script);
    expect(timed.end.stopSkewUs).toBeGreaterThanOrEqual(0);
    const counted = await simulate(shardFor(1, { connections: 4, requests: 10 }), script);
    expect(counted.end.stopSkewUs).toBeUndefined();
  });
});
