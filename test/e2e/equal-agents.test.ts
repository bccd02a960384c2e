// Two agents that start at the same moment on one machine, as in the README, are equal and get the same share.

import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { canRun } from '../support/programs.js';
import { WellBehavedTarget } from '../targets/well-behaved-target.js';
import { fire, reportOf } from './command-line.js';
import { type StartedCluster, startCluster } from './started-cluster.js';

describe.runIf(canRun('redis-server'))('agents that start together on one machine', () => {
  const target = new WellBehavedTarget();
  let cache = '';
  let cluster: StartedCluster;

  beforeEach(async () => {
    cache = await mkdtemp(join(tmpdir(), 'broadside-cache-'));
    await target.start();
    cluster = await startCluster(['one', 'two'], { XDG_CACHE_HOME: cache });
  });

  afterEach(async () => {
    await cluster.stop();
    await target.stop();
    await rm(cache, { recursive: true, force: true });
  });

  it('share a run equally, and leave nothing but what they measured', async () => {
    const load = ['-q', '-n', '1000', '-c', '2', '--slots', '2'];
    const report = reportOf(await fire(['run', '--coordinator', cluster.url, ...load, `${target.url}/`]));
    expect(report.agents.map(({ completed }) => completed)).toEqual([500, 500]);
    // Where the machine is too busy to be measured there is no file, and both count as usual.
    const left = await readdir(join(cache, 'broadside'));
    expect(left.filter((name) => name !== 'capacity.json')).toEqual([]);
  });
});
