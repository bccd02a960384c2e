import { fileURLToPath } from 'node:url';
import type { Report } from '@broadside/shared';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunningProcess } from '../support/process.js';
import { HostCluster } from './host-cluster.js';
import { canMakeHosts } from './test-network.js';

/** A figure takes 20 runs and a quiet machine; what is claimed here holds on any. */
const runs = Number(process.env['SKEW_RUNS'] ?? 3);
const DELAY_MS = { near: 0, middle: 20, far: 80 } as const;
const NAMES = Object.keys(DELAY_MS);

describe.runIf(canMakeHosts())(`agents ${Object.values(DELAY_MS).join(', ')} ms away`, () => {
  let hosts: HostCluster;
  let target: RunningProcess;
  let targetUrl: string;

  beforeAll(async () => {
    hosts = await HostCluster.start({ agentNames: NAMES, delayMs: DELAY_MS });
    const script = fileURLToPath(new URL('stamping-target.mjs', import.meta.url));
    target = await hosts.target.start(process.execPath, [script, hosts.target.address]);
    const port = (await target.waitForLine(/^listens on /)).replace('listens on ', '');
    targetUrl = `http://${hosts.target.address}:${port}/`;
    await hosts.cluster.haveAgents(NAMES, 1);
  });
  afterAll(async () => {
    await target.stop();
    await hosts.stop();
  });

  /** µs of the target's clock at which each agent's first request came, by name. */
  function firstRequests(output: string): Map<string, number> {
    const firsts = new Map<string, number>();
    for (const [, address, atUs] of output.matchAll(/^first (\S+) (\d+)$/gm)) {
      const name = NAMES.find((each) => hosts.network.host(each).address === address);
      if (name !== undefined && !firsts.has(name)) firsts.set(name, Number(atUs));
    }
    return firsts;
  }

  async function run(): Promise<{ readonly report: Report; readonly firsts: Map<string, number> }> {
    const before = target.stdout().length;
    const plan = { target: targetUrl, requests: 30, connections: 3, slots: 3, probe: false };
    const report = await hosts.cluster.report(await hosts.cluster.post(plan));
    return { report, firsts: firstRequests(target.stdout().slice(before)) };
  }

  it(`start together, as the target sees it (${runs} runs)`, { timeout: 60_000 + runs * 5_000 }, async () => {
    const skewsUs: number[] = [];
    const ownUs: number[] = [];
    for (let i = 0; i < runs; i++) {
      const { report, firsts } = await run();
      expect(report.ledger.problems).toEqual([]);
      expect([...firsts.keys()].sort()).toEqual([...NAMES].sort());
      const earliest = Math.min(...firsts.values());
      skewsUs.push(...[...firsts.values()].map((atUs) => atUs - earliest));
      // What the agents say of their own starts has no part of the way in it, and none of the clocks' error.
      ownUs.push(...report.shards.map((shard) => shard.startSkewUs ?? Number.NaN));
    }
    console.log(`behind the first agent of its run: ${percentilesOf(skewsUs)} (${skewsUs.length} starts)`);
    console.log(`behind the start instant, as the agents say: ${percentilesOf(ownUs)}`);
    expect(ownUs.every((us) => us >= 0)).toBe(true);
    // An agent that did not know its clock would be late by its delay at least, however quiet the machine.
    const sorted = skewsUs.toSorted((a, b) => a - b);
    expect(sorted[Math.floor(sorted.length / 2)]).toBeLessThan(DELAY_MS.middle * 1_000);
  });
});

function percentilesOf(valuesUs: readonly number[]): string {
  const sorted = valuesUs.toSorted((a, b) => a - b);
  const at = (share: number): string =>
    `${((sorted[Math.ceil(sorted.length * share) - 1] ?? 0) / 1_000).toFixed(2)} ms`;
  return `p50 ${at(0.5)}, p90 ${at(0.9)}, p99 ${at(0.99)}, most ${at(1)}`;
}
