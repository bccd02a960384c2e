// One of four agents is kept from running most of the time, as by a neighbour on its machine: it alone is named.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fire, reportOf } from '../e2e/command-line.js';
import { type StartedCluster, startCluster } from '../e2e/started-cluster.js';
import type { RunningProcess } from '../support/process.js';
import { canRun } from '../support/programs.js';
import { WellBehavedTarget } from '../targets/well-behaved-target.js';

const NAMES = ['one', 'two', 'three', 'hindered'];
/** So long that what a busy test machine adds is little beside it. */
const DELAY_MS = 100;
const FROZEN_MS = 400;
const FREE_MS = 100;

describe.runIf(canRun('redis-server'))('an agent that stands out', () => {
  const target = new WellBehavedTarget({ delayMs: DELAY_MS });
  let cluster: StartedCluster;

  beforeAll(async () => {
    await target.start();
    cluster = await startCluster(NAMES);
  });

  afterAll(async () => {
    await cluster.stop();
    await target.stop();
  });

  it('is named in text and JSON with what is odd about it, and no other is', async () => {
    const thaw = hinder(cluster.agents.get('hindered'));
    const load = ['--rate', '400', '-d', '4s', '-c', '200', '--slots', '4', '--weights', 'equal'];
    const fired = await fire(['run', '--coordinator', cluster.url, ...load, `${target.url}/`]).finally(thaw);
    const { outliers = [], ledger } = reportOf(fired);
    expect(new Set(outliers.map(({ name }) => name)), JSON.stringify(outliers)).toEqual(
      new Set(['hindered']),
    );
    expect(outliers.map(({ measure }) => measure)).toContain('p50');
    for (const { measure, value, median } of outliers)
      if (measure === 'p50') expect(value).toBeGreaterThan(median);
    expect(ledger.problems).toEqual([]);
    const [, block = ''] = /^Outliers {5}((?:.+\n(?: {13}.+\n)*))/m.exec(fired.stdout) ?? [];
    expect(block).toMatch(
      /^ *hindered: p50 \S+, \S+ times the median of 4 agents \(\S+\); modified z-score /m,
    );
    expect(block).not.toMatch(/one:|two:|three:/);
  });
});

/** Freezes a process again and again. @returns lets it run for good. */
function hinder(agent: RunningProcess | undefined): () => void {
  if (agent === undefined) throw new Error('there is no such agent');
  let timer: NodeJS.Timeout;
  const freeze = (): void => {
    agent.signal('SIGSTOP');
    timer = setTimeout(release, FROZEN_MS);
  };
  const release = (): void => {
    agent.signal('SIGCONT');
    timer = setTimeout(freeze, FREE_MS);
  };
  freeze();
  return () => {
    clearTimeout(timer);
    agent.signal('SIGCONT');
  };
}
