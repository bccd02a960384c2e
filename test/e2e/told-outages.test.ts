// What servers and clients tell while a part of the cluster is away, or somebody else ends their run.
import { afterEach, describe, expect, it } from 'vitest';
import { startBroadside } from '../cli/broadside.js';
import { withFreePort } from '../support/free-port.js';
import { canRun } from '../support/programs.js';
import { RedisServer } from '../support/redis.js';
import { WellBehavedTarget } from '../targets/well-behaved-target.js';
import { reportOf, startRun } from './command-line.js';
import { startAgentProcess, startServe } from './started-cluster.js';

const ENV = { BROADSIDE_JOIN_TOKEN: 'a-join-token-of-this-test' };
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function startTarget(): Promise<WellBehavedTarget> {
  const target = new WellBehavedTarget({ delayMs: 5 });
  await target.start();
  closing.push(() => target.stop());
  return target;
}

describe('a run that somebody else stops', () => {
  it('ends its ab with a line that says so', async () => {
    const target = await startTarget();
    const { url, process } = await startServe(['--slots', '1']);
    closing.push(() => process.stop());
    const ab = await startRun(['ab', '--agents-at', url, '-n', '1000000', '-c', '2', '-k', `${target.url}/`]);
    await expect.poll(() => target.counters.requestsSeen, { timeout: 30_000 }).toBeGreaterThan(10);
    const runs = (await (await fetch(`${url}/api/runs`)).json()) as { id: string }[];
    await fetch(`${url}/api/runs/${runs[0]?.id}`, { method: 'DELETE' });
    const ended = await ab.ended;
    expect(ended.stderr).toMatch(/^broadside: the run was stopped before its end: stopped by request$/m);
    expect(ended.exitCode).toBe(1);
  });
});

describe.runIf(canRun('redis-server'))('a cluster on Redis', () => {
  it('tells once that the coordinator is away and back, and how its draining ended', async () => {
    const redis = await RedisServer.start();
    closing.push(() => redis.stop());
    // Without a store that outlives it, a coordinator is found again by where it listens.
    const { serve, first } = await withFreePort(async (port) => {
      const words = ['serve', '--port', String(port), '--redis', redis.url];
      const started = await startBroadside(words, ENV);
      const line = await started.waitForLine(/^broadside coordinator listens on /);
      return { serve: words, first: { url: line.replace(/^.* listens on /, ''), process: started } };
    });
    const agent = await startAgentProcess(['--join', first.url, '--slots', '1'], ENV);
    closing.push(() => agent.stop());
    await first.process.waitForLine(/^broadside: \S+Z agent \S+ \(\S+\) joined with 1 slot$/);
    first.process.signal('SIGKILL');
    await first.process.exit;
    await agent.waitForLine(/^broadside: \S+Z warning: .*; trying again$/);
    const second = await startBroadside(serve, ENV);
    closing.push(() => second.stop());
    await agent.waitForLine(/^broadside: \S+Z warning: the coordinator is back after [\d.]+ s$/);
    agent.signal('SIGTERM');
    expect(await agent.exit).toMatchObject({ exitCode: 0 });
    expect(agent.stderr()).toMatch(/^broadside: drained: everything that was measured has been delivered$/m);
    // Redis was there all the time: that the agent takes leave of it is no loss.
    expect(agent.stderr()).not.toContain("lost the queue's Redis");
    expect(agent.stderr().split('; trying again\n').length - 1).toBeLessThanOrEqual(2);
  });

  it('names in the report that Redis was lost while the run went on, and in JSON where that is asked for', async () => {
    const target = await startTarget();
    const redis = await RedisServer.start({ isDurable: true });
    closing.push(() => redis.stop());
    const serve = await startServe(['--redis', redis.url, '--log-format', 'json'], ENV);
    closing.push(() => serve.process.stop());
    const agent = await startAgentProcess(['--join', serve.url, '--slots', '1'], ENV);
    closing.push(() => agent.stop());
    const run = await startRun(['run', '--coordinator', serve.url, '-d', '5s', '-c', '2', `${target.url}/`]);
    await run.process.waitForLine(/^\d+s {2}/);
    await redis.kill();
    await run.process.waitForLine(/^broadside: warning: coordinator: lost the queue's Redis at redis:/);
    await redis.restart();
    const report = reportOf(await run.ended);
    expect(report.warnings).toContainEqual(
      expect.stringMatching(/^coordinator: lost the queue's Redis at redis:/),
    );
    serve.process.signal('SIGTERM');
    await serve.process.exit;
    const lines = serve.process.stderr().trimEnd().split('\n');
    const messages = lines.map((line) => (JSON.parse(line) as { msg: string }).msg);
    expect(messages).toContainEqual(expect.stringMatching(/^lost Redis at redis:/));
    expect(messages.at(-1)).toMatch(/^stopping;/);
  });
});
