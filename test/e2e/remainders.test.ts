import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAbReport } from '../support/ab-shape.js';
import { WellBehavedTarget } from '../targets/well-behaved-target.js';
import { fire, reportOf } from './command-line.js';
import { type StartedCoordinator, startServe } from './started-cluster.js';

describe('requests and connections that do not divide by the slots', () => {
  let coordinator: StartedCoordinator;
  beforeAll(async () => {
    // More slots than this machine has cores: what counts here is the arithmetic, not the speed.
    coordinator = await startServe(['--slots', '5']);
  });
  afterAll(() => coordinator.process.stop());

  it.each([
    [2, 'a cluster'],
    [3, 'a cluster'],
    [5, 'one command alone'],
  ])('are sent exactly over %d slots of %s, over 7 connections at once', async (slots, where) => {
    const target = new WellBehavedTarget();
    await target.start();
    try {
      const place = where === 'a cluster' ? ['--agents-at', coordinator.url] : [];
      const load = ['-n', '100003', '-c', '7', '-k', '--slots', String(slots)];
      const fired = await fire(['ab', ...place, ...load, `${target.url}/`]);
      const { shards } = reportOf(fired);
      expect(fired.exitCode).toBe(0);
      expect(parseAbReport(fired.stdout)).toMatchObject({
        completeRequests: 100_003,
        failedRequests: 0,
        keepAliveRequests: 100_003,
      });
      expect(target.counters).toMatchObject({
        requestsSeen: 100_003,
        repliesSent: 100_003,
        connectionsAccepted: 7,
        connectionsOpenMax: 7,
        socketErrors: 0,
      });
      expectWholeShares(shards, slots);
    } finally {
      await target.stop();
    }
  });

  it('are sent exactly with a new connection for each request', async () => {
    const target = new WellBehavedTarget();
    await target.start();
    try {
      const where = ['--agents-at', coordinator.url, '--slots', '5'];
      const fired = await fire(['ab', ...where, '-n', '2003', '-c', '7', `${target.url}/`]);
      reportOf(fired);
      expect(parseAbReport(fired.stdout)).toMatchObject({ completeRequests: 2_003, failedRequests: 0 });
      expect(target.counters).toMatchObject({ requestsSeen: 2_003, connectionsAccepted: 2_003 });
      expect(target.counters.requestsPerConnection.every((count) => count === 1)).toBe(true);
    } finally {
      await target.stop();
    }
  });
});

function expectWholeShares(
  shards: readonly { readonly connections: number; readonly requests?: number | undefined }[],
  slots: number,
): void {
  expect(shards).toHaveLength(slots);
  const connections = shards.map((shard) => shard.connections);
  const requests = shards.map((shard) => shard.requests ?? 0);
  expect(sum(connections)).toBe(7);
  expect(sum(requests)).toBe(100_003);
  expect(Math.max(...connections) - Math.min(...connections)).toBeLessThanOrEqual(1);
}

function sum(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0);
}
