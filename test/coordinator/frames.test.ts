import { encodeInterval, type Interval, LIMITS, type Report } from '@broadside/shared';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CoordinatorUnderTest, plan } from './coordinator-under-test.js';
import { intervalOf, type SimulatedAgent } from './simulated-agent.js';

let under: CoordinatorUnderTest;
beforeAll(async () => {
  under = await CoordinatorUnderTest.start();
});
afterEach(() => under.dismissAgents());
afterAll(() => under.coordinator.close());

/** A run on one slot of an agent that waits after its first interval, and another agent that only listens in. */
async function heldRun(): Promise<{
  readonly agent: SimulatedAgent;
  readonly stranger: SimulatedAgent;
  readonly runId: string;
  readonly go: () => void;
}> {
  let go: () => void = () => undefined;
  const holdAfterFirst = new Promise<void>((resolve) => {
    go = resolve;
  });
  const agent = await under.join({ agentId: 'a', slots: 1, holdAfterFirst });
  const runId = await under.post({ ...plan, slots: 1 });
  await agent.next((message) => message.kind === 'ack');
  const stranger = await under.join({ agentId: 'stranger', slots: 1 });
  return { agent, stranger, runId, go };
}

/** An interval of 50 requests that the shard never had. */
function strange(runId: string, given: { readonly number: number; readonly attempt?: number }): Interval {
  const { number, attempt = 1 } = given;
  return intervalOf({ runId, shardIndex: 0, attempt }, { number, completed: 50 });
}

async function reportOf(runId: string): Promise<Report> {
  const { report } = await under.finished(runId);
  if (report === undefined) throw new Error('no report');
  return report;
}

/** What a report must say that nothing but the shard's own frames has touched. */
function essence({ ledger, counters, verdict }: Report): unknown {
  return { problems: ledger.problems, completed: counters.completed, outcome: verdict.outcome };
}

const UNDISTURBED = { problems: [], completed: 1_003, outcome: 'pass' };

describe('a frame at the socket', () => {
  it('that comes again later, when others have come since, counts once', async () => {
    const { agent, runId, go } = await heldRun();
    const [first] = agent.sentFrames;
    go();
    await agent.next((message) => message.kind === 'ack' && message.number === 2);
    if (first !== undefined) agent.sendBytes(first);
    expect(essence(await reportOf(runId))).toEqual(UNDISTURBED);
  });

  it('of another agent’s shard is refused, and counts nowhere', async () => {
    const { stranger, runId, go } = await heldRun();
    stranger.sendBytes(encodeInterval(strange(runId, { number: 1 })));
    const answer = await stranger.next((message) => message.kind === 'fenced');
    expect(answer).toMatchObject({ shard: { runId, shardIndex: 0, attempt: 1 } });
    go();
    expect(essence(await reportOf(runId))).toEqual(UNDISTURBED);
  });

  it('of an attempt that was never made is refused', async () => {
    const { agent, runId, go } = await heldRun();
    agent.sendBytes(encodeInterval(strange(runId, { number: 0, attempt: 2 })));
    await agent.next((message) => message.kind === 'fenced' && message.shard.attempt === 2);
    go();
    expect(essence(await reportOf(runId))).toEqual(UNDISTURBED);
  });

  it('of a run that is over, or never was, is refused', async () => {
    const { agent, runId, go } = await heldRun();
    go();
    expect(essence(await reportOf(runId))).toEqual(UNDISTURBED);
    for (const id of [runId, 'no-such-run']) {
      agent.sendBytes(encodeInterval(strange(id, { number: 7 })));
      await agent.next((message) => message.kind === 'fenced' && message.shard.runId === id);
    }
  });

  it('of a fenced attempt is refused, and what was stored of it stays', async () => {
    const { agent, runId } = await heldRun();
    agent.cut();
    const attempt = { runId, shardIndex: 0, attempt: 1 };
    const finished = reportOf(runId);
    // The stranger has taken the rest over by then.
    await finished;
    await agent.connect([attempt]);
    agent.sendBytes(encodeInterval(strange(runId, { number: 1 })));
    await agent.next((message) => message.kind === 'fenced');
    expect(essence(await finished)).toEqual(UNDISTURBED);
  });

  it('that leaves a gap makes the result inconclusive, which says what is missing', async () => {
    const agent = await under.join({ agentId: 'a', slots: 1, drops: [1] });
    const report = await reportOf(await under.post({ ...plan, slots: 1 }));
    expect(report.verdict.outcome).toBe('inconclusive');
    expect(report.ledger.problems.join('\n')).toContain('interval 1 is missing');
    expect(report.ledger.problems.join('\n')).toContain('simulated-a');
    expect(agent.acknowledged.get(`${report.run.id}.0.1`)).toBe(0);
  }, 60_000);

  it('that overtakes another is put in its place', async () => {
    await under.join({ agentId: 'a', slots: 1, intervals: 6, isReversed: true });
    const report = await reportOf(await under.post({ ...plan, slots: 1 }));
    expect(essence(report)).toEqual(UNDISTURBED);
    expect(report.seconds.map((second) => second.second)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('far ahead of all others, or that covers another one, is not counted, and the report says so', async () => {
    const { agent, runId, go } = await heldRun();
    agent.sendBytes(encodeInterval(strange(runId, { number: LIMITS.maxOutboxIntervals * 3 })));
    agent.sendBytes(encodeInterval({ ...strange(runId, { number: 0 }), span: 2 }));
    go();
    const report = await reportOf(runId);
    expect(report.counters.completed).toBe(1_003);
    expect(report.verdict.outcome).toBe('inconclusive');
    expect(report.ledger.problems.join('\n')).toMatch(
      /out of order \(too-far\)[\s\S]*out of order \(overlap\)/,
    );
  });
});
