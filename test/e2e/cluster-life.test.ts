import { ROUTES } from '@broadside/shared';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startBroadside } from '../cli/broadside.js';
import type { RunningProcess } from '../support/process.js';
import { canRun } from '../support/programs.js';
import { RedisServer } from '../support/redis.js';
import { WellBehavedTarget } from '../targets/well-behaved-target.js';
import { fire, reportOf, startRun } from './command-line.js';
import { type StartedCoordinator, startAgentProcess, startServe } from './started-cluster.js';

const ENV = { BROADSIDE_JOIN_TOKEN: 'a-join-token-of-this-test' };
const NAMES = ['one', 'two', 'three'];
/** The first line of progress tells that the load is on its way. */
const UNDER_LOAD = /^\d+s {2}/;

describe.runIf(canRun('redis-server'))('a cluster of processes', () => {
  // Slow enough that a run of some seconds is cheap.
  const target = new WellBehavedTarget({ delayMs: 5 });
  let redis: RedisServer;
  let coordinator: StartedCoordinator;
  /** By name, so that a test can take one away; the next test finds it replaced. */
  const agents = new Map<string, RunningProcess>();

  beforeAll(async () => {
    await target.start();
    redis = await RedisServer.start();
    coordinator = await startServe(['--redis', redis.url], ENV);
  });

  beforeEach(async () => {
    const missing = NAMES.filter((name) => agents.get(name)?.hasEnded() !== false);
    await Promise.all(
      missing.map(async (name) => {
        const words = ['--join', coordinator.url, '--name', name, '--slots', '2'];
        agents.set(name, await startAgentProcess(words, ENV));
      }),
    );
  });

  afterAll(async () => {
    await Promise.all([...agents.values()].map((agent) => agent.stop()));
    await coordinator.process.stop();
    await redis.stop();
    await target.stop();
  });

  function agentNamed(name: string): RunningProcess {
    const agent = agents.get(name);
    if (agent === undefined) throw new Error(`no agent ${name}`);
    return agent;
  }

  /** Words for a run of six slots, all there are. */
  function wholeCluster(...words: string[]): string[] {
    return ['run', '--coordinator', coordinator.url, '--slots', '6', '-c', '6', ...words, `${target.url}/`];
  }

  it('finishes two runs that are posted at the same moment and each want every slot', async () => {
    const seenBefore = target.counters.requestsSeen;
    const both = await Promise.all([fire(wholeCluster('-n', '601')), fire(wholeCluster('-n', '607'))]);
    expect(both.map((fired) => fired.exitCode)).toEqual([0, 0]);
    expect(both.map((fired) => reportOf(fired).counters.completed)).toEqual([601, 607]);
    expect(target.counters.requestsSeen - seenBefore).toBe(601 + 607);
  });

  it('finishes two runs that take what is free', async () => {
    const where = ['ab', '--agents-at', coordinator.url, '-c', '4', '-k'];
    const both = await Promise.all([
      fire([...where, '-n', '401', `${target.url}/`]),
      fire([...where, '-n', '403', `${target.url}/`]),
    ]);
    expect(both.map((fired) => fired.exitCode)).toEqual([0, 0]);
    expect(both.map((fired) => reportOf(fired).counters.completed)).toEqual([401, 403]);
  });

  it('lets a run wait while no slot is free, says so, and finishes it', async () => {
    const first = await startRun(wholeCluster('-d', '5s'));
    await first.process.waitForLine(UNDER_LOAD);
    const second = await startRun(wholeCluster('-n', '60'));
    await second.process.waitForLine(/^queued, place 1: waits for free slots: wants 6, 0 of 6 are free$/);
    expect((await first.ended).exitCode).toBe(0);
    const waited = await second.ended;
    expect(waited.exitCode).toBe(0);
    const report = reportOf(waited);
    expect(report.counters.completed).toBe(60);
    // It began only when the first one had ended.
    const firstEndedAt = reportOf(await first.ended).run.endedAt;
    expect(Date.parse(report.run.startedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(firstEndedAt) - 100);
  });

  it('refuses an agent with a wrong token in one line that does not repeat it', async () => {
    const agent = await startBroadside(['agent', '--join', coordinator.url], {
      BROADSIDE_JOIN_TOKEN: 'wrong-and-secret',
    });
    expect(await agent.exit).toEqual({ exitCode: 5, signal: null });
    expect(agent.stderr()).toMatch(/^broadside: .*token.*\n$/);
    expect(agent.stderr() + agent.stdout()).not.toContain('wrong-and-secret');
  });

  it('has the load of an agent that is killed while no slot is free sent by the others beside their own', async () => {
    const run = await startRun(wholeCluster('-n', '6000', '--timeout', '2s'), 40_000);
    await run.process.waitForLine(UNDER_LOAD);
    await agentNamed('two').kill();
    const fired = await run.ended;
    const report = reportOf(fired);
    expect(fired.exitCode).toBe(0);
    expect(report.ledger.problems).toEqual([]);
    expect(report.counters.sent).toBe(6_000);
    expect(report.losses?.map(({ rest, takenBy }) => [rest, takenBy?.isExtra])).toEqual([
      ['taken', true],
      ['taken', true],
    ]);
    expect(fired.stdout.replaceAll(/\s+/g, ' ')).toMatch(
      /agent two was lost with shard .* beside its own shards/,
    );
  });

  it('has the load of a killed agent sent by slots that are free', async () => {
    const words = ['run', '--coordinator', coordinator.url, '--slots', '3', '-c', '6'];
    const run = await startRun([...words, '-n', '4000', `${target.url}/`], 40_000);
    await run.process.waitForLine(UNDER_LOAD);
    await agentNamed('two').kill();
    const fired = await run.ended;
    const report = reportOf(fired);
    expect(fired.exitCode).toBe(0);
    expect(report.ledger.problems).toEqual([]);
    expect(report.counters.sent).toBe(4_000);
    expect(fired.stdout.replaceAll(/\s+/g, ' ')).toMatch(/agent two was lost with shard/);
  });

  it('takes the killed agent off its list', async () => {
    await agentNamed('three').kill();
    await expect.poll(() => namesOf(coordinator.url), { timeout: 8_000 }).toEqual(['one', 'two']);
  });

  it('drains an agent under SIGTERM: it delivers everything, and others send what it gave back', async () => {
    const run = await startRun(wholeCluster('-n', '100000', '-d', '6s'), 30_000);
    await run.process.waitForLine(UNDER_LOAD);
    const agent = agentNamed('three');
    agent.signal('SIGTERM');
    expect(await agent.exit).toEqual({ exitCode: 0, signal: null });
    expect(agent.stderr()).toMatch(/draining/);
    const fired = await run.ended;
    const report = reportOf(fired);
    expect(fired.exitCode).toBe(0);
    expect(report.lostWithAgent).toBe(0);
    expect(report.agents.map((each) => each.lost)).toEqual([false, false, false]);
    expect(report.verdict.outcome).toBe('pass');
    expect(report.ledger.problems).toEqual([]);
    // Every slot was taken, so that it is beside their own shards.
    const gaveBack = { agentName: 'three', cause: 'left', rest: 'taken', takenBy: { isExtra: true } };
    expect(report.losses).toMatchObject([gaveBack, gaveBack]);
    const { planned, sent, notSentTimeOver, notSentStopped } = report.counters;
    expect(planned).toBe(100_000);
    expect(sent + notSentTimeOver + notSentStopped).toBe(planned);
  });

  it('is unharmed by all of this', async () => {
    const fired = await fire(wholeCluster('-n', '666'));
    expect(fired.exitCode).toBe(0);
    expect(reportOf(fired).counters.completed).toBe(666);
    expect(reportOf(fired).agents.map((agent) => agent.shards)).toEqual([2, 2, 2]);
  });
});

describe.runIf(canRun('redis-server'))('a coordinator that is told to leave under load', () => {
  const target = new WellBehavedTarget({ delayMs: 5 });
  let redis: RedisServer;
  const started: RunningProcess[] = [];
  beforeAll(async () => {
    await target.start();
    redis = await RedisServer.start();
  });
  afterEach(() => Promise.all(started.splice(0).map((each) => each.stop())));
  afterAll(async () => {
    await redis.stop();
    await target.stop();
  });

  it('ends the load, and everybody gets a clear end', async () => {
    const coordinator = await startServe(['--redis', redis.url], ENV);
    started.push(coordinator.process);
    const agent = await startAgentProcess(['--join', coordinator.url, '--slots', '2'], ENV);
    started.push(agent);
    const words = ['run', '--coordinator', coordinator.url, '-d', '60s', '-c', '4', `${target.url}/`];
    const run = await startRun(words, 40_000);
    await run.process.waitForLine(UNDER_LOAD);
    const startMs = performance.now();
    coordinator.process.signal('SIGTERM');
    expect(await coordinator.process.exit).toEqual({ exitCode: 0, signal: null });
    expect(performance.now() - startMs).toBeLessThan(10_000);
    // The load must not outlive the coordinator's orderly end.
    await expect.poll(() => target.counters.connectionsOpen, { timeout: 5_000 }).toBe(0);
    const fired = await run.ended;
    expect(fired.stderr).not.toMatch(/internal error|\n {4}at /);
    // Not this client's person stopped the run, and the report of what was done came all the same.
    expect(fired.exitCode).toBe(5);
    expect(reportOf(fired).verdict.outcome).toBe('aborted');
    expect(reportOf(fired).ledger.balanced).toBe(true);
    expect(agent.stderr()).not.toMatch(/internal error|\n {4}at /);
  });
});

async function namesOf(url: string): Promise<string[]> {
  const response = await fetch(`${url}${ROUTES.agents}`);
  const list: unknown = await response.json();
  if (!Array.isArray(list)) throw new Error('no list of agents');
  return list.map((agent: { readonly name: string }) => agent.name).sort();
}
