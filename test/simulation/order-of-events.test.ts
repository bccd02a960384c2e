// Single orders of events that random faults hardly ever meet, on virtual time.

import { type Plan, parsePlan, type Report } from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import { Random } from '../../libs/shared/src/testing/random.js';
import { VirtualAgent } from './virtual-agent.js';
import { VirtualCoordinator } from './virtual-coordinator.js';
import type { AttemptTruth } from './virtual-engine.js';
import { VirtualQueue } from './virtual-queue.js';
import { VirtualStore } from './virtual-store.js';
import { VirtualTime } from './virtual-time.js';

/** Everything takes as long as it can, so that a test can say what comes first. */
class Slowest extends Random {
  override int(_least: number, most: number): number {
    return most;
  }
}

function planOf(given: object): Plan {
  const parsed = parsePlan({ target: 'http://127.0.0.1:9/', connections: 2, timeoutMs: 2_000, ...given });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.plan;
}

class Cluster {
  readonly time = new VirtualTime();
  readonly #random = new Slowest(1);
  readonly store = new VirtualStore(this.#random);
  readonly queue = new VirtualQueue(this.time, this.#random);
  readonly agents: VirtualAgent[] = [];
  coordinator = this.start();

  /** @returns the coordinator, which opens as time passes. */
  start(): VirtualCoordinator {
    this.coordinator = new VirtualCoordinator(this.time, this.store, this.queue);
    void this.coordinator.open();
    return this.coordinator;
  }

  async addAgents(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      const agent = new VirtualAgent({
        id: `agent-${this.agents.length}`,
        slots: 1,
        time: this.time,
        random: this.#random,
        queue: this.queue,
        coordinator: () => this.coordinator,
        truths: new Map<string, AttemptTruth>(),
      });
      this.agents.push(agent);
    }
    await this.pass(1_000);
  }

  async pass(ms: number): Promise<void> {
    const untilMs = this.time.nowMs + ms;
    let isOver = false;
    this.time.after(ms, () => {
      isOver = true;
    });
    await this.time.run(() => isOver, untilMs);
  }

  /** The agent of a first attempt. */
  agentOf(shardIndex: number): VirtualAgent {
    const [row] = [...this.store.shards.values()].filter(
      ({ shard }) => shard.shardIndex === shardIndex && shard.attempt === 1,
    );
    const agent = this.agents.find(({ id }) => id === row?.agentId);
    if (agent === undefined) throw new Error(`nobody has shard ${shardIndex}`);
    return agent;
  }

  /** Posts a plan, and returns when its shards are with their agents or the queue, and none has said anything. */
  async post(plan: Plan): Promise<string> {
    let runId = '';
    void this.coordinator.runs.create(plan).then((run) => {
      runId = run.id;
    });
    await this.time.run(() => this.store.shards.size > 0, this.time.nowMs + 5_000);
    return runId;
  }

  async reportOf(runId: string): Promise<Report> {
    const report = (): Report | undefined => this.store.runs.get(runId)?.report;
    await this.time.run(() => report() !== undefined, this.time.nowMs + 300_000);
    const found = report();
    if (found === undefined) throw new Error(`no report: ${JSON.stringify(this.store.runs.get(runId))}`);
    return found;
  }
}

describe('a start that is stored so late that an agent has given its shard up', () => {
  it.each([{ durationMs: 5_000 }, { requests: 100 }])(
    'leaves that shard to somebody else (%o)',
    async (load) => {
      const cluster = new Cluster();
      await cluster.addAgents(2);
      const runId = await cluster.post(planOf({ ...load, slots: 2 }));
      cluster.agentOf(1).timers.freeze();
      await cluster.pass(2_000);
      // Only what is stored now: the start.
      cluster.store.slownessMs = 40_500;
      cluster.agentOf(1).timers.thaw();
      await cluster.pass(500);
      cluster.store.slownessMs = 5;
      const { losses = [], shards, verdict } = await cluster.reportOf(runId);
      expect(losses.map(({ shardIndex, cause, rest }) => ({ shardIndex, cause, rest }))).toEqual([
        { shardIndex: 0, cause: 'left', rest: 'taken' },
      ]);
      const taken = shards.find(({ shardIndex, attempt }) => shardIndex === 0 && attempt > 1);
      expect(taken?.counters?.sent).toBeGreaterThan(0);
      expect(verdict.outcome).toBe('pass');
    },
  );
});

describe('an agent that leaves when its slot holds its shard, and others are waited for', () => {
  it.each([true, false])('is replaced before the start (probe: %s)', async (probe) => {
    const cluster = new Cluster();
    await cluster.addAgents(3);
    const runId = await cluster.post(planOf({ durationMs: 5_000, slots: 2, probe }));
    cluster.agentOf(1).timers.freeze();
    await cluster.pass(500);
    const leaver = cluster.agentOf(0);
    leaver.timers.run(() => leaver.drain());
    await cluster.pass(1_500);
    cluster.agentOf(1).timers.thaw();
    const { run, losses = [], shards, verdict } = await cluster.reportOf(runId);
    expect(run).toMatchObject({ state: 'finished' });
    expect(losses).toEqual([]);
    expect(
      shards.find(({ shardIndex, attempt }) => shardIndex === 0 && attempt === 2)?.counters?.sent,
    ).toBeGreaterThan(0);
    expect(verdict.outcome).toBe('pass');
  });
});

describe('a probe', () => {
  it('that was answered to a coordinator before is not waited for again', async () => {
    const cluster = new Cluster();
    await cluster.addAgents(2);
    const runId = await cluster.post(planOf({ durationMs: 5_000, slots: 2, probe: true }));
    cluster.store.slownessMs = 1_000;
    await cluster.pass(500);
    cluster.coordinator.kill();
    cluster.store.slownessMs = 5;
    cluster.agentOf(1).timers.freeze();
    cluster.start();
    await cluster.pass(2_000);
    cluster.agentOf(1).timers.thaw();
    const { run, verdict } = await cluster.reportOf(runId);
    expect(run).toMatchObject({ state: 'finished' });
    expect(verdict.outcome).toBe('pass');
  });

  it('is believed of the shard that sends it', async () => {
    const cluster = new Cluster();
    await cluster.addAgents(2);
    const runId = await cluster.post(
      planOf({ durationMs: 5_000, slots: 2, probe: true, onSocketError: 'stop' }),
    );
    cluster.coordinator.events.emit('shard-probed', {
      agentId: cluster.agentOf(1).id,
      shard: { runId, shardIndex: 1, attempt: 1 },
      result: {
        ok: false,
        fatal: { code: 'ECONNREFUSED', message: 'refused', failureClass: 'connectRefused' },
      },
    });
    const { run } = await cluster.reportOf(runId);
    expect(run).toMatchObject({ state: 'finished' });
  });
});

describe('agents that stop their load because the coordinator stays away', () => {
  async function runWithout(lastsMs: number): Promise<Report> {
    const cluster = new Cluster();
    await cluster.addAgents(2);
    const runId = await cluster.post(planOf({ durationMs: 120_000, slots: 2 }));
    await cluster.pass(10_000);
    cluster.coordinator.kill();
    await cluster.pass(lastsMs);
    cluster.start();
    return cluster.reportOf(runId);
  }

  it('go on when it is back, also where no number of requests says what is left', async () => {
    const { losses = [], verdict } = await runWithout(70_000);
    expect(losses.map(({ cause, rest }) => ({ cause, rest }))).toEqual([
      { cause: 'left', rest: 'taken' },
      { cause: 'left', rest: 'taken' },
    ]);
    expect(verdict.outcome).toBe('pass');
  });

  it('leave the run inconclusive where its time is over then', async () => {
    const { losses = [], verdict } = await runWithout(130_000);
    expect(losses.map(({ cause, rest }) => ({ cause, rest }))).toEqual([
      { cause: 'left', rest: 'dropped' },
      { cause: 'left', rest: 'dropped' },
    ]);
    expect(verdict.outcome).toBe('inconclusive');
  });
});

describe('an agent that leaves, and a coordinator that is killed before it has noted that', () => {
  it('leave the run inconclusive', async () => {
    const cluster = new Cluster();
    await cluster.addAgents(2);
    const runId = await cluster.post(planOf({ durationMs: 20_000, slots: 2 }));
    await cluster.pass(3_000);
    cluster.store.slownessMs = 500;
    const leaver = cluster.agentOf(0);
    leaver.timers.run(() => leaver.drain());
    // Its last interval is stored by then, and the loss is not.
    await cluster.pass(900);
    cluster.coordinator.kill();
    cluster.store.slownessMs = 5;
    leaver.kill(false);
    cluster.start();
    const { verdict } = await cluster.reportOf(runId);
    expect(verdict.outcome).toBe('inconclusive');
    expect(verdict.reasons.join('\n')).toMatch(/shard 0 .* its load ended after 2.00s of its 20.0s/);
  });
});

describe('rests that the queue does not take', () => {
  it('are not all tried again and again', async () => {
    const cluster = new Cluster();
    await cluster.addAgents(8);
    const runId = await cluster.post(planOf({ durationMs: 120_000, slots: 8, connections: 8 }));
    await cluster.pass(5_000);
    cluster.queue.goDown();
    for (const shardIndex of [0, 1, 2, 3]) cluster.agentOf(shardIndex).kill(false);
    await cluster.pass(60_000);
    // The first ones, all rests once, and about one each second.
    expect(cluster.store.shards.size).toBeLessThan(8 + 4 + 70);
    cluster.queue.comeBack();
    const { losses = [], run } = await cluster.reportOf(runId);
    expect(run.state).toBe('finished');
    expect(losses.map(({ rest }) => rest)).toEqual(['taken', 'taken', 'taken', 'taken']);
  });
});
