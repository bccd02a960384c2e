// The big red stop, with real agents on a real Redis, measured where it counts: at the target.

import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { type Agent, startAgent } from '@broadside/agent';
import { type ErrorBody, type KillState, ROUTES, type RunSummary } from '@broadside/shared';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CoordinatorUnderTest, until } from '../coordinator/coordinator-under-test.js';
import { RedisServer } from '../support/redis.js';

/** What the design promises. */
const MOST_MS = 1_000;
/** Ways through this process's one event loop between the request to stop and the last request that is seen. */
const HOPS = 4;

class WatchedTarget {
  requests = 0;
  lastAtMs = 0;
  readonly #server: Server = createServer((_request, response) => {
    this.requests++;
    this.lastAtMs = performance.now();
    response.end('x');
  });

  async start(): Promise<string> {
    await new Promise<void>((resolve) => {
      this.#server.listen(0, '127.0.0.1', resolve);
    });
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

describe('the kill switch', () => {
  const targets = [new WatchedTarget(), new WatchedTarget()];
  let urls: string[] = [];
  let folder = '';
  let redis: RedisServer;
  let under: CoordinatorUnderTest;
  let agents: Agent[] = [];

  const startCoordinator = (port = 0): Promise<CoordinatorUnderTest> =>
    CoordinatorUnderTest.start({ redisUrl: redis.url, joinToken: 'join', dataDir: folder, port });

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'broadside-kill-'));
    urls = await Promise.all(targets.map((target) => target.start()));
    redis = await RedisServer.start({ isDurable: true });
    under = await startCoordinator();
    agents = await Promise.all(
      [1, 2].map(() => startAgent({ coordinatorUrl: under.coordinator.url, joinToken: 'join', slots: 2 })),
    );
  });
  afterEach(async () => {
    await Promise.all(agents.map((agent) => agent.close()));
    await under.coordinator.close();
    await redis.stop();
    for (const target of targets) target.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Two runs that fill all slots, and one that waits. */
  async function fireThree(): Promise<string[]> {
    const before = targets.map((target) => target.requests);
    const first = await under.post({ target: urls[0] ?? '', duration: '60s', connections: 2, slots: 2 });
    const second = await under.post({ target: urls[1] ?? '', duration: '60s', rate: 200, slots: 2 });
    const third = await under.post({ target: urls[0] ?? '', duration: '60s', slots: 2 });
    await until(() => Promise.resolve(targets.every((target, i) => target.requests > (before[i] ?? 0) + 50)));
    return [first, second, third];
  }

  /** What a busy machine adds to the time is measured, and not held against the switch. */
  function watchOwnDelay(): IntervalHistogram {
    const delay = monitorEventLoopDelay({ resolution: 10 });
    delay.enable();
    return delay;
  }

  interface Killed {
    readonly atMs: number;
    readonly delay: IntervalHistogram;
  }

  async function expectAllEnded(runIds: readonly string[], { atMs, delay }: Killed): Promise<void> {
    const details = await Promise.all(runIds.map((runId) => under.finished(runId)));
    for (const detail of details) {
      expect(detail.state).toBe('aborted');
      expect(detail.reason).toContain('the kill switch is on: enough');
    }
    delay.disable();
    const mostMs = MOST_MS + (HOPS * delay.max) / 1_000_000;
    for (const target of targets) expect(target.lastAtMs - atMs).toBeLessThan(mostMs);
  }

  const kill = () => under.request<KillState>('POST', ROUTES.kill, { reason: 'enough' });

  it('stops all runs within a second, keeps new ones away over a restart, and lets them in when released', async () => {
    const runIds = await fireThree();
    const killed = { atMs: performance.now(), delay: watchOwnDelay() };
    const { status, body } = await kill();
    expect(status).toBe(200);
    expect(body).toMatchObject({ isOn: true, endedRuns: 3 });
    await expectAllEnded(runIds, killed);
    const refused = await under.request<ErrorBody>('POST', ROUTES.runs, { target: urls[0], requests: 1 });
    expect(refused.status).toBe(409);
    expect(refused.body.error.message).toBe('no run is taken in: the kill switch is on: enough');

    const { port } = under.coordinator;
    await under.coordinator.close();
    under = await startCoordinator(port);
    const state = await under.request<KillState>('GET', ROUTES.kill);
    expect(state.body).toMatchObject({ isOn: true, reason: 'the kill switch is on: enough' });
    const still = await under.request<ErrorBody>('POST', ROUTES.runs, { target: urls[0], requests: 1 });
    expect(still.status).toBe(409);

    expect((await under.request<KillState>('DELETE', ROUTES.kill)).body).toEqual({ isOn: false });
    const runId = await under.post({ target: urls[0] ?? '', requests: 10, connections: 1 });
    expect((await under.finished(runId)).state).toBe('finished');
  });

  it('needs no Redis', async () => {
    const runIds = await fireThree();
    await redis.kill();
    const killed = { atMs: performance.now(), delay: watchOwnDelay() };
    expect((await kill()).status).toBe(200);
    // The books close when the results come, and these need Redis.
    await until(async () => {
      const { body } = await under.request<RunSummary[]>('GET', ROUTES.runs);
      return body.every(({ state }) => state === 'aborted' || state === 'closing');
    });
    await redis.restart();
    await expectAllEnded(runIds, killed);
  });
});
