import { abNotes, type Report, reportJson, summaryText } from '@broadside/shared';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NginxServer } from '../support/nginx.js';
import { canRun } from '../support/programs.js';
import { type BurningTarget, startBurningTarget, VerdictBench } from './verdict-bench.js';

let bench: VerdictBench;
beforeAll(async () => {
  bench = await VerdictBench.open('socket');
});
afterAll(async () => {
  await bench.close();
});

function reasonsOf({ verdict }: Report): string {
  return verdict.reasons.join('\n');
}

describe.runIf(canRun('nginx'))('against nginx with two workers, one slot', () => {
  let nginx: NginxServer;
  let page = '';
  beforeAll(async () => {
    nginx = await NginxServer.start({ workerCount: 2, keepaliveRequests: 100_000_000 });
    page = `${nginx.url}/100.html`;
  });
  afterAll(async () => {
    await nginx.stop();
  });

  it('is the generator, in every format and while it runs, when the slot is full', async () => {
    const { report, messages } = await bench.judge({ target: page, connections: 200, duration: '3s' });
    expect(report.verdict.limit, reasonsOf(report)).toBe('generator');
    expect(reasonsOf(report)).toMatch(
      /an engine thread needed a CPU for at least 90 % of the time in \d of \d seconds/,
    );
    expect(report.verdict.advice[0]).toContain('move one of them to another');
    const warning = 'the generator was the limit: the target may be faster than this number';
    expect(summaryText(report)).toContain(`! ${warning}`);
    expect(abNotes(report).replace(/\s+/g, ' ')).toContain(`Warning: ${warning}`);
    expect(JSON.parse(reportJson(report))).toMatchObject({ verdict: { limit: 'generator', warning } });
    const warned = messages.flatMap((message) =>
      message.kind === 'second' ? (message.generatorWarning ?? []) : [],
    );
    expect(warned[0]).toMatch(
      /^the generator is the limit: an engine thread needs a CPU for \d+ % of the time/,
    );
  });

  it('is the plan when the rate that was asked for was reached', async () => {
    const plan = { target: page, connections: 20, duration: '3s', rate: 200 };
    const { report } = await bench.judge(plan);
    if (isCrowded(report) && report.verdict.limit === 'undecided') return;
    expect(report.verdict.limit, reasonsOf(report)).toBe('plan');
    expect(reasonsOf(report)).toContain('the rate was reached');
    expect(report.verdict.warning).toBeUndefined();
  });

  it('is undecided after a handful of replies', async () => {
    const { report } = await bench.run({ target: page, connections: 2, requests: 50 });
    expect(report.verdict.limit).toBe('undecided');
    expect(reasonsOf(report)).toContain('too little to tell who was the limit: 50 replies');
  });

  it('reports the machine, and that it is the target’s too', async () => {
    const { report } = await bench.run({ target: page, connections: 2, requests: 50 });
    const [agent] = report.agents;
    const [shard] = report.shards;
    expect(agent?.machine.cpus).toBeGreaterThan(0);
    expect(shard?.sharesMachine).toBe(true);
    expect(summaryText(report).replace(/\s+/g, ' ')).toContain('client and target share a machine');
  });
});

/** Target, client and tests share one machine: where threads had to wait for its CPUs, nobody can tell. */
function isCrowded(report: Report): boolean {
  return report.seconds.some(({ runDelayShareMax = 0 }) => runDelayShareMax >= 0.1);
}

describe('against a server of one thread that computes for 3 ms', () => {
  let target: BurningTarget;
  beforeAll(async () => {
    target = await startBurningTarget(3);
  });
  afterAll(async () => {
    await target.process.stop();
  });

  function expectTarget(report: Report, reason: string): void {
    if (isCrowded(report) && report.verdict.limit === 'undecided') {
      expect(reasonsOf(report)).toContain('client and target share');
      return;
    }
    expect(report.verdict.limit, reasonsOf(report)).toBe('target');
    expect(reasonsOf(report)).toContain(reason);
  }

  it('is the target when twenty connections wait for it, on CPUs that are free', async () => {
    const { report } = await bench.judge({ target: target.url, connections: 20, duration: '4s' });
    expectTarget(report, 'requests queued beyond the generator');
    expect(report.verdict.warning).toBeUndefined();
  });

  it('is the plan when one connection asks for one reply at a time', async () => {
    const { report } = await bench.judge({ target: target.url, connections: 1, duration: '2s' });
    expect(report.verdict.limit, reasonsOf(report)).toBe('plan');
    expect(reasonsOf(report)).toContain('measures latency, no capacity');
  });

  it('is the target when the rate is twice what it can do', async () => {
    const plan = { target: target.url, connections: 20, duration: '4s', rate: 700 };
    const { report } = await bench.judge(plan);
    expect(report.verdict.outcome).toBe('fail');
    expectTarget(report, 'only when a connection became free');
  });
});
