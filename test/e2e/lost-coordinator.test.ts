// What the client of a coordinator says and ends with when the cluster, and not its person, ends a run.
import { afterEach, describe, expect, it } from 'vitest';
import { broadside } from '../cli/broadside.js';
import { canRun } from '../support/programs.js';
import { RedisServer } from '../support/redis.js';
import { WellBehavedTarget } from '../targets/well-behaved-target.js';
import { startRun } from './command-line.js';
import { type StartedCoordinator, startAgentProcess, startServe } from './started-cluster.js';

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

async function started(words: readonly string[]): Promise<StartedCoordinator> {
  const coordinator = await startServe(words, ENV);
  closing.push(() => coordinator.process.stop());
  return coordinator;
}

describe('a coordinator that is stopped while a run goes on', () => {
  it('ends its client with the code of the cluster, and not as if it had been interrupted', async () => {
    const target = await startTarget();
    const coordinator = await started(['--slots', '1']);
    const words = ['run', '--coordinator', coordinator.url, '-d', '30s', '-c', '2', `${target.url}/`];
    const run = await startRun(words, 30_000);
    await run.process.waitForLine(/^\d+s {2}/);
    coordinator.process.signal('SIGTERM');
    expect((await run.ended).exitCode).toBe(5);
  });
});

describe.runIf(canRun('redis-server'))('a coordinator whose Redis is down', () => {
  it('refuses a run in one line that says what to do, for ab as well', async () => {
    const target = await startTarget();
    const redis = await RedisServer.start();
    closing.push(() => redis.stop());
    const coordinator = await started(['--redis', redis.url]);
    const agent = await startAgentProcess(['--join', coordinator.url, '--slots', '1'], ENV);
    closing.push(() => agent.stop());
    await redis.kill();
    await expect
      .poll(async () => (await fetch(`${coordinator.url}/readyz`)).status, { timeout: 10_000 })
      .toBe(503);
    for (const words of [
      ['run', '--coordinator', coordinator.url, '-q'],
      ['ab', '--agents-at', coordinator.url, '-q'],
    ]) {
      const result = await broadside([...words, '-n', '4', '-c', '2', `${target.url}/`]);
      expect(result.stderr).toMatch(/^\n?broadside: .*lost the Redis of its queue; start Redis again.*\n$/);
      expect(result.stdout).not.toContain('Complete requests');
      expect(result.exitCode).toBe(5);
    }
    expect(target.counters.requestsSeen).toBe(0);
  });
});
