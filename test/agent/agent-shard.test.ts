import { COUNTER, counterOf, ledgerProblems, PROTOCOL_VERSION } from '@broadside/shared';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SilentTarget } from '../targets/silent-target.js';
import { AgentBench, attemptOf, startWhenReady, sumOf, totalsOf } from './agent-bench.js';
import type { CoordinatorEnd } from './coordinator-end.js';
import { shardOf } from './shard-of.js';

let bench: AgentBench;
beforeEach(async () => {
  bench = new AgentBench();
  await bench.open();
});
afterEach(() => bench.close());

describe('a shard on an agent', () => {
  it('goes from ready over the probe to a result that equals the sum of its acknowledged intervals', async () => {
    const coordinator = await bench.openCoordinator({ clockAheadUs: -3_000_000 });
    const { queue } = await bench.join(coordinator);
    await coordinator.first('clock-offset');
    const shard = shardOf(bench.targetPort, { requests: 500, connections: 4 });
    const given = queue.give(shard);
    await coordinator.first('ready');
    coordinator.say({ kind: 'probe', shard: attemptOf(shard) });
    const { result: probe } = await coordinator.first('probed');
    expect(probe).toMatchObject({ ok: true, status: 200, bodyBytes: 100, server: 'well-behaved' });
    const startAtUs = await startWhenReady(coordinator, shard, 100);
    const result = await given;
    expect(coordinator.nowUs()).toBeGreaterThanOrEqual(startAtUs);
    const intervals = await coordinator.allIntervalsOf(shard);
    const totals = totalsOf(result);
    expect(counterOf(totals.counters, 'completed')).toBe(500);
    expect(sumOf(intervals)).toEqual(totals.counters);
    expect(ledgerProblems(totals.counters, { isFinal: true, requests: 500 })).toEqual([]);
    expect(result).toMatchObject({ runId: 'run-1', addresses: ['127.0.0.1'], server: 'well-behaved' });
    expect(result.fatal).toBeUndefined();
    expect(result.startSkewUs).toBeGreaterThanOrEqual(0);
    expect(bench.target.counters.requestsSeen).toBe(500);
  });

  it('uses the same slot for one shard after the other', async () => {
    const coordinator = await bench.openCoordinator();
    const { queue } = await bench.join(coordinator);
    for (let round = 1; round <= 3; round++) {
      const shard = shardOf(bench.targetPort, { runId: `round-${round}`, requests: 10 });
      const given = queue.give(shard);
      await startWhenReady(coordinator, shard);
      expect(counterOf(totalsOf(await given).counters, 'completed')).toBe(10);
    }
  });

  it('is refused, and its job fails, when the target has no address', async () => {
    const coordinator = await bench.openCoordinator();
    const { queue } = await bench.join(coordinator);
    const shard = shardOf(bench.targetPort, {
      target: { scheme: 'http', host: 'nowhere.invalid', port: 80, path: '/' },
    });
    await expect(queue.give(shard)).rejects.toThrow(/nowhere\.invalid/);
    const { fatal } = await coordinator.first('refused');
    expect(fatal.message).toContain('nowhere.invalid');
    // The slot is free again.
    const next = shardOf(bench.targetPort, { runId: 'next', requests: 1 });
    const given = queue.give(next);
    await startWhenReady(coordinator, next);
    await given;
  });

  it('fails its job with the reason when the job is not a valid shard', async () => {
    const coordinator = await bench.openCoordinator();
    const { queue } = await bench.join(coordinator);
    await expect(queue.give({ ...shardOf(bench.targetPort), connections: 0 })).rejects.toThrow(/connections/);
    const { fatal } = await coordinator.first('refused');
    expect(fatal).toMatchObject({ code: 'INVALID_SHARD' });
    await expect(queue.give({ ...shardOf(bench.targetPort), protocol: 99 })).rejects.toThrow(
      /protocol 99.*update/,
    );
    await expect(queue.give('garbage')).rejects.toThrow(/not a valid shard/);
  });

  it('stops at once when told, and reports what was done', async () => {
    const coordinator = await bench.openCoordinator();
    const { queue } = await bench.join(coordinator);
    const silent = new SilentTarget('never-answers');
    const { port } = await silent.start();
    bench.later(() => silent.stop());
    const shard = shardOf(port, { requests: 1_000, timeoutMs: 60_000 });
    const given = queue.give(shard);
    await startWhenReady(coordinator, shard);
    await coordinator.until(() => coordinator.intervalsOf(shard).length > 0, 'an interval');
    coordinator.say({ kind: 'stop', shard: attemptOf(shard), reason: 'enough' });
    const { counters } = totalsOf(await given);
    expect(ledgerProblems(counters, { isFinal: true, requests: 1_000 })).toEqual([]);
    expect(counters[COUNTER.inFlightAtEnd]).toBe(2);
    expect(counters[COUNTER.notSentStopped]).toBe(998);
    expect(sumOf(await coordinator.allIntervalsOf(shard))).toEqual(counters);
  });

  it('that was stopped or fenced before its job was claimed does not begin', async () => {
    const coordinator = await bench.openCoordinator();
    const { queue } = await bench.join(coordinator);
    const stopped = shardOf(bench.targetPort, { runId: 'stopped' });
    coordinator.say({ kind: 'stop', shard: attemptOf(stopped), reason: 'user stopped it' });
    const fenced = shardOf(bench.targetPort, { runId: 'fenced' });
    coordinator.say({ kind: 'fenced', shard: attemptOf(fenced) });
    await coordinator.first('clock-offset');
    // The round trip after it shows that both orders have arrived.
    const seenProbes = coordinator.all('clock-probe').length;
    await coordinator.until(() => coordinator.all('clock-probe').length > seenProbes, 'another round trip');
    await expect(queue.give(stopped)).rejects.toThrow(/user stopped it/);
    await expect(queue.give(fenced)).rejects.toThrow(/fenced/);
  });

  it('that is fenced stops its load and sends no more intervals', async () => {
    const coordinator = await bench.openCoordinator();
    const { queue } = await bench.join(coordinator);
    coordinator.isAcknowledging = false;
    const shard = shardOf(bench.targetPort, { requests: 1_000_000_000, timeoutMs: 1_000 });
    const given = queue.give(shard);
    await startWhenReady(coordinator, shard);
    await coordinator.until(() => coordinator.intervalsOf(shard).length > 0, 'an interval');
    coordinator.say({ kind: 'fenced', shard: attemptOf(shard) });
    await given;
    const requests = bench.target.counters.requestsSeen;
    coordinator.breakConnections();
    const again = coordinator.all('hello').length;
    await coordinator.until(() => coordinator.all('hello').length > again, 'another greeting');
    expect(coordinator.all('hello').at(-1)?.attempts).toEqual([]);
    expect(coordinator.intervalsOf(shard).some(({ isLast }) => isLast)).toBe(false);
    expect(bench.target.counters.requestsSeen).toBe(requests);
  });
});

describe('a broken connection', () => {
  it('costs no interval: the shard goes on and everything unacknowledged comes again', async () => {
    const coordinator = await bench.openCoordinator();
    const { queue } = await bench.join(coordinator);
    coordinator.isAcknowledging = false;
    const shard = shardOf(bench.targetPort, { requests: undefined, durationMs: 2_500 });
    const given = queue.give(shard);
    await startWhenReady(coordinator, shard);
    await coordinator.until(() => coordinator.intervalsOf(shard).length > 0, 'an interval');
    coordinator.breakConnections();
    await coordinator.until(() => coordinator.all('hello').length === 2, 'another greeting');
    expect(coordinator.all('hello')[1]?.attempts).toEqual([attemptOf(shard)]);
    coordinator.isAcknowledging = true;
    const result = await given;
    const intervals = await coordinator.allIntervalsOf(shard);
    expect(sumOf(intervals)).toEqual(totalsOf(result).counters);
    expect(intervals.map(({ number }) => number)).toEqual(intervals.map((_, i) => i));
  });

  it('with a coordinator that was away loses nothing, and ready is said again', async () => {
    const first = await bench.openCoordinator();
    const { queue } = await bench.join(first);
    const shard = shardOf(bench.targetPort, { requests: 50 });
    const given = queue.give(shard);
    await first.first('ready');
    const { port } = first;
    await first.close();
    const second = await bench.openCoordinator({ port });
    await startWhenReady(second, shard);
    const result = await given;
    expect(sumOf(await second.allIntervalsOf(shard))).toEqual(totalsOf(result).counters);
  });

  it('is noticed when the coordinator only falls silent', async () => {
    const coordinator = await bench.openCoordinator();
    await bench.join(coordinator);
    await coordinator.first('clock-offset');
    coordinator.isAnswering = false;
    await coordinator.until(() => coordinator.all('hello').length === 2, 'another greeting', 30_000);
    const [first, second] = coordinator.all('hello');
    expect(second?.agentId).toBe(first?.agentId);
  });

  it('is what a coordinator gets that sends something else than the protocol', async () => {
    const coordinator = await bench.openCoordinator();
    const { agent } = await bench.join(coordinator);
    coordinator.sayRaw('{"kind":"start"}');
    await coordinator.until(() => coordinator.all('hello').length === 2, 'another greeting');
    coordinator.sayRaw(Buffer.alloc(400_000));
    await coordinator.until(() => coordinator.all('hello').length === 3, 'a third greeting');
    expect(agent.slots).toBe(1);
  });

  it('that ends in a rejection ends the agent with the reason', async () => {
    let isWelcome = true;
    const coordinator: CoordinatorEnd = await bench.openCoordinator({
      onHello: () =>
        isWelcome
          ? {
              kind: 'welcome',
              protocol: PROTOCOL_VERSION,
              version: 'test',
              queue: { kind: 'embedded' },
              heartbeatMs: 100,
            }
          : { kind: 'rejected', reason: 'this cluster is closed' },
    });
    const { agent } = await bench.join(coordinator);
    isWelcome = false;
    coordinator.breakConnections();
    const { error } = await agent.closed;
    expect(error?.message).toContain('this cluster is closed');
  });
});

describe('an agent that drains', () => {
  it('says so, stops its load, and leaves when intervals and results are delivered', async () => {
    const coordinator = await bench.openCoordinator();
    const { agent, queue } = await bench.join(coordinator);
    const shard = shardOf(bench.targetPort, { requests: 1_000_000_000 });
    const given = queue.give(shard);
    await startWhenReady(coordinator, shard);
    await coordinator.until(() => coordinator.intervalsOf(shard).length > 0, 'an interval');
    await agent.drain();
    expect(coordinator.all('draining')).toHaveLength(1);
    const { counters } = totalsOf(await given);
    expect(counterOf(counters, 'notSentStopped')).toBeGreaterThan(0);
    expect(sumOf(coordinator.intervalsOf(shard))).toEqual(counters);
    expect(queue.isClosed).toBe(true);
    await expect(queue.give(shardOf(bench.targetPort, { runId: 'late' }))).rejects.toThrow(/leaving/);
  });

  it('leaves within its bound when the coordinator is gone, and sooner when it is closed meanwhile', async () => {
    const coordinator = await bench.openCoordinator();
    const { agent, queue } = await bench.join(coordinator);
    coordinator.isAcknowledging = false;
    const shard = shardOf(bench.targetPort, { requests: 10 });
    const given = queue.give(shard);
    await startWhenReady(coordinator, shard);
    await given;
    await coordinator.close();
    const beganMs = performance.now();
    const draining = agent.drain();
    await agent.close();
    await draining;
    expect(performance.now() - beganMs).toBeLessThan(10_000);
  });
});
