import { PROTOCOL_VERSION, ROUTES } from '@broadside/shared';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { helloOf } from '../coordinator/simulated-agent.js';
import { canRun } from '../support/programs.js';
import { WellBehavedTarget } from '../targets/well-behaved-target.js';
import { FaultyCluster, JOIN_TOKEN } from './faulty-cluster.js';

const DELAY_MS = 20;

describe.runIf(canRun('redis-server'))('an agent that comes in the middle of a run', () => {
  const target = new WellBehavedTarget({ delayMs: DELAY_MS });
  let cluster: FaultyCluster;

  beforeAll(async () => {
    await target.start();
    cluster = await FaultyCluster.start();
  });
  afterAll(async () => {
    await cluster.stop();
    await target.stop();
  });

  /** A run over so many slots, once the target has seen so many of its requests. */
  async function underLoad(requests: number, seen: number, slots = 2): Promise<string> {
    const before = target.counters.requestsSeen;
    const runId = await cluster.post({ target: `${target.url}/`, connections: 4, slots, requests });
    await cluster.until(() => target.counters.requestsSeen - before >= seen);
    return runId;
  }

  it('takes over what was left of another, where nobody else has room', async () => {
    await cluster.haveAgents(['one'], 1);
    await cluster.haveAgents(['two'], 2);
    const runId = await underLoad(1_500, 300, 3);
    await cluster.agent('two').kill();
    await cluster.until(async () => (await cluster.agents()).length === 1);
    await cluster.haveAgents(['late'], 1, {});
    const report = await cluster.report(runId);
    expect(report.ledger.problems).toEqual([]);
    // The agent that was there has room for one of the two shards, beside its own.
    expect(report.losses).toMatchObject([
      { agentName: 'two', rest: 'taken', takenBy: { agentName: 'one', isExtra: true } },
      { agentName: 'two', rest: 'taken', takenBy: { agentName: 'late' } },
    ]);
    expect(report.losses?.[1]?.takenBy?.isExtra).toBeUndefined();
    expect(report.counters.sent).toBe(1_500);
    expect(report.counters.completed + report.lostWithAgent).toBe(1_500);
  });

  it('and is of another version is told which side to update, and the run is unharmed', async () => {
    await cluster.haveAgents(['one', 'late'], 1);
    const runId = await underLoad(600, 100);
    const socket = new WebSocket(cluster.url.replace('http', 'ws') + ROUTES.agentSocket, {
      headers: { authorization: `Bearer ${JOIN_TOKEN}` },
    });
    const heard: string[] = [];
    socket.on('message', (payload: Buffer) => heard.push(payload.toString('utf8')));
    socket.once('open', () => {
      socket.send(JSON.stringify({ ...helloOf('newer', 4), protocol: PROTOCOL_VERSION + 1 }));
    });
    const code = await new Promise<number>((resolve) => {
      socket.once('close', resolve);
    });
    expect(code).toBe(1008);
    expect(heard).toEqual([expect.stringMatching(/"rejected".*update the coordinator/)]);
    expect((await cluster.agents()).map((agent) => agent.name).sort()).toEqual(['late', 'one']);
    const report = await cluster.report(runId);
    expect(report.ledger.problems).toEqual([]);
    expect(report.losses).toBeUndefined();
    expect(report.counters.completed).toBe(600);
  });
});
