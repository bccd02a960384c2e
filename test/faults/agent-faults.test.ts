import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { canRun } from '../support/programs.js';
import { WellBehavedTarget } from '../targets/well-behaved-target.js';
import { FaultyCluster } from './faulty-cluster.js';
import { RateWatch } from './rate-watch.js';
import { SilentRelay } from './silent-relay.js';

const NAMES = ['one', 'two', 'three'];
/** Each connection sends so often that six of them make about 300 requests a second. */
const DELAY_MS = 20;

describe.runIf(canRun('redis-server'))('an agent in the middle of a run', () => {
  const target = new WellBehavedTarget({ delayMs: DELAY_MS });
  let cluster: FaultyCluster;
  let watch: RateWatch;

  beforeAll(async () => {
    await target.start();
    cluster = await FaultyCluster.start();
  });
  beforeEach(async () => {
    await cluster.haveAgents(NAMES, 2);
    watch = new RateWatch(() => target.counters.requestsSeen);
  });
  afterEach(() => watch.stop());
  afterAll(async () => {
    await cluster.stop();
    await target.stop();
  });

  function planOf(load: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
    return { target: `${target.url}/`, connections: 6, slots: 3, timeout: '2s', ...load };
  }

  /** How the two shards of a killed agent went on where every slot was busy: each beside those of another agent. */
  const CARRIED = [0, 1].map(() => ({ agentName: 'two', rest: 'taken', takenBy: { isExtra: true } }));

  /** Until the target has seen some seconds of the load. */
  async function underLoad(seconds: number): Promise<void> {
    const before = target.counters.requestsSeen;
    await cluster.until(() => target.counters.requestsSeen > before);
    const sinceMs = performance.now();
    await cluster.until(() => performance.now() - sinceMs > seconds * 1_000);
  }

  it('is killed: another takes its load over, the rate comes back, and the books balance', async () => {
    const seenBefore = target.counters.requestsSeen;
    const runId = await cluster.post(planOf({ duration: '10s' }));
    await underLoad(2.5);
    const killedAtMs = performance.now();
    const before = watch.rate(killedAtMs, 1_500);
    await cluster.agent('two').kill();
    const report = await cluster.report(runId);
    watch.stop();

    const [loss] = report.losses ?? [];
    const restoredMs = watch.restoredAfterMs(killedAtMs, before, 0.95);
    const noticedMs = (loss?.noticedAtMs ?? 0) - 2_500;
    console.log(`noticed after about ${Math.round(noticedMs)} ms, rate back after ${restoredMs} ms`);
    expect(report.ledger.problems).toEqual([]);
    expect(report.verdict.outcome).toBe('pass');
    expect(loss).toMatchObject({ agentName: 'two', cause: 'lost', rest: 'taken' });
    expect(noticedMs).toBeLessThan(3_000);
    expect(restoredMs).toBeDefined();
    expect(report.agents.find((agent) => agent.name === 'two')?.lost).toBe(true);
    // What the target saw beyond the books is what the report says that it may have seen.
    const beyond = target.counters.requestsSeen - seenBefore - report.counters.sent;
    expect(beyond).toBeGreaterThanOrEqual(0);
    expect(beyond).toBeLessThanOrEqual((loss?.unaccountedMax ?? 0) + 10);
  });

  it('is killed in a paced run on all slots: the total rate is back within 2 %', async () => {
    const rate = 600;
    const runId = await cluster.post(planOf({ duration: '12s', rate, connections: 60, slots: 6 }));
    await underLoad(3);
    const killedAtMs = performance.now();
    await cluster.agent('two').kill();
    const report = await cluster.report(runId);
    watch.stop();
    const restoredMs = watch.restoredAfterMs(killedAtMs, rate, 0.98);
    console.log(`a paced run is back at its rate after ${restoredMs} ms`);
    expect(restoredMs).toBeDefined();
    expect(report.ledger.problems).toEqual([]);
    expect(report.losses).toMatchObject(CARRIED);
    // One each: nobody carries more than others must.
    const takers = report.losses?.map(({ takenBy }) => takenBy?.agentName);
    expect(takers?.toSorted()).toEqual(['one', 'three']);
    // Every whole second after the rest went on has the whole rate again.
    const from = Math.max(...(report.losses ?? []).map(({ takenBy }) => takenBy?.fromMs ?? 0)) / 1_000;
    const later = report.seconds.filter(({ second }) => second >= from && second < 12);
    expect(later.length).toBeGreaterThan(3);
    for (const { planned } of later) expect(Math.abs(planned - rate)).toBeLessThanOrEqual(rate * 0.02);
  });

  it('is cut off while it lives: it is replaced, and what it sent meanwhile is stated exactly', async () => {
    const relay = await SilentRelay.start(cluster.url);
    await cluster.haveAgents(['far'], 2, { joinUrl: relay.url });
    const seenBefore = target.counters.requestsSeen;
    const runId = await cluster.post(planOf({ duration: '14s', slots: 4, connections: 8 }));
    await underLoad(2.5);
    relay.fallSilent();
    await cluster.until(async () => (await cluster.agents()).every((agent) => agent.name !== 'far'));
    relay.speakAgain();
    const report = await cluster.report(runId);
    await relay.stop();
    const [loss] = report.losses ?? [];
    expect(report.ledger.problems).toEqual([]);
    expect(loss).toMatchObject({ agentName: 'far', cause: 'lost', rest: 'taken' });
    // It went on until it was back: the target has seen exactly what the report says that it has.
    expect(loss?.unaccounted).toBeGreaterThan(0);
    const seen = target.counters.requestsSeen - seenBefore;
    expect(Math.abs(report.counters.sent + (loss?.unaccounted ?? 0) - seen)).toBeLessThanOrEqual(8);
    expect((await cluster.agent('far').stop()).exitCode).toBe(0);
  });

  it('is killed in a counted run on all slots: n are counted, and those that are unknown are numbered', async () => {
    const runId = await cluster.post(planOf({ requests: 1_500, slots: 6 }));
    await underLoad(2);
    await cluster.agent('two').kill();
    const report = await cluster.report(runId);
    expect(report.ledger.problems).toEqual([]);
    expect(report.counters.planned).toBe(1_500);
    expect(report.counters.sent).toBe(1_500);
    expect(report.counters.completed + report.lostWithAgent).toBe(1_500);
    // At most what its two connections had in flight.
    expect(report.lostWithAgent).toBeLessThanOrEqual(2);
    expect(report.losses).toMatchObject(CARRIED);
    expect(report.verdict.outcome).toBe('pass');
    expect(report.verdict.reasons.join(' ')).toContain('beside its own shards');
    const seconds = report.seconds.reduce((sum, second) => sum + second.completed, 0);
    expect(seconds).toBe(report.counters.completed);
  });

  it('stands still and wakes up: it is replaced, stops at once, and says what it had sent', async () => {
    const runId = await cluster.post(planOf({ duration: '11s' }));
    await underLoad(2);
    cluster.agent('two').signal('SIGSTOP');
    const frozenAtMs = performance.now();
    await cluster.until(async () => (await cluster.agents()).length === 2);
    const noticedMs = performance.now() - frozenAtMs;
    console.log(`a frozen agent was noticed after ${Math.round(noticedMs)} ms`);
    expect(noticedMs).toBeLessThan(3_600);
    cluster.agent('two').signal('SIGCONT');
    const report = await cluster.report(runId);
    const [loss, ...others] = report.losses ?? [];
    expect(others).toEqual([]);
    expect(loss).toMatchObject({ agentName: 'two', cause: 'lost', rest: 'taken' });
    expect(loss?.unaccounted).toBeGreaterThanOrEqual(0);
    expect(report.ledger.problems).toEqual([]);
    expect(report.verdict.outcome).toBe('pass');
    // It is there for the next run.
    await cluster.haveAgents(NAMES, 2);
  });

  it('stands still for a moment only: nothing is lost', async () => {
    const runId = await cluster.post(planOf({ requests: 1_200 }));
    await underLoad(1);
    cluster.agent('two').signal('SIGSTOP');
    const frozenAtMs = performance.now();
    await cluster.until(() => performance.now() - frozenAtMs > 1_500);
    cluster.agent('two').signal('SIGCONT');
    const report = await cluster.report(runId);
    expect(report.losses).toBeUndefined();
    expect(report.ledger.problems).toEqual([]);
    expect(report.counters.completed).toBe(1_200);
  });

  it('is told to leave: it gives its rest back, and nothing is lost', async () => {
    const runId = await cluster.post(planOf({ requests: 1_500 }));
    await underLoad(1.5);
    cluster.agent('two').signal('SIGTERM');
    expect(await cluster.agent('two').exit).toEqual({ exitCode: 0, signal: null });
    const report = await cluster.report(runId);
    expect(report.ledger.problems).toEqual([]);
    expect(report.losses?.[0]).toMatchObject({ cause: 'left', agentName: 'two', rest: 'taken' });
    const { planned, sent, completed, inFlightAtEnd, notSentStopped } = report.counters;
    expect({ planned, sent, notSentStopped }).toEqual({ planned: 1_500, sent: 1_500, notSentStopped: 0 });
    expect(completed + inFlightAtEnd).toBe(1_500);
    expect(report.verdict.outcome).toBe('pass');
  });
});
