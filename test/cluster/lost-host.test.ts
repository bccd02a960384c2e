import type { Report } from '@broadside/shared';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type NginxRequest, NginxServer } from '../support/nginx.js';
import { canRun } from '../support/programs.js';
import { HostCluster } from './host-cluster.js';
import { canMakeHosts } from './test-network.js';

/** The figure is taken with 5000, on a quiet machine; this is what any machine carries beside other things. */
const rate = Number(process.env['LOST_HOST_RATE'] ?? 900);
const DURATION_S = 14;
const LOST_AFTER_S = 4;
const NAMES = ['one', 'two', 'three'];
const STEP_MS = 100;

describe.runIf(canMakeHosts() && canRun('nginx'))(`a host lost in a run of ${rate}/s over three`, () => {
  let hosts: HostCluster;
  let nginx: NginxServer;

  beforeAll(async () => {
    hosts = await HostCluster.start({ agentNames: NAMES });
    nginx = await NginxServer.start({ place: hosts.target, isLogged: true });
  });
  beforeEach(() => hosts.cluster.haveAgents(NAMES, 2));
  afterAll(async () => {
    await nginx.stop();
    await hosts.stop();
  });

  /** A run in whose middle agent two is lost. @returns when the rate is back, and the report. */
  async function losing(slots: number, lose: () => Promise<unknown>): Promise<LostRun> {
    const { cluster } = hosts;
    const plan = { target: `${nginx.url}/100.html`, rate, duration: `${DURATION_S}s`, connections: 60 };
    const runId = await cluster.post({ ...plan, slots, timeout: '2s', probe: false });
    let startMs = Number.NaN;
    await cluster.until(async () => {
      const detail = await cluster.detail(runId);
      startMs = Date.parse(detail?.startedAt ?? '');
      return Date.now() - startMs > LOST_AFTER_S * 1_000;
    });
    const lostAtMs = Date.now();
    await lose();
    const report = await cluster.report(runId);
    const log = (await nginx.accessLog()).filter((entry) => entry.endedAtMs >= startMs);
    const [loss] = report.losses ?? [];
    const noticedMs = startMs + (loss?.noticedAtMs ?? 0) - lostAtMs;
    const restoredMs = restoredAfterMs(log, lostAtMs, startMs + DURATION_S * 1_000);
    const fromMs = Math.max(...(report.losses ?? []).map(({ takenBy }) => takenBy?.fromMs ?? 0));
    console.log(
      `noticed after ${noticedMs} ms; taken over after ${startMs + fromMs - lostAtMs} ms; ` +
        `at the target the rate is back within 2 % after ${restoredMs} ms`,
    );
    return { report, restoredMs };
  }

  it('is replaced when its agent is killed while all slots are busy', async () => {
    const { report, restoredMs } = await losing(6, () => hosts.cluster.agent('two').kill());
    const carried = { agentName: 'two', cause: 'lost', rest: 'taken', takenBy: { isExtra: true } };
    expect(report.losses).toMatchObject([carried, carried]);
    expect(report.ledger.problems).toEqual([]);
    expect(restoredMs).toBeDefined();
  });

  it('is replaced when its cable is pulled, and is there again when it is back', async () => {
    const two = hosts.network.host('two');
    const { report, restoredMs } = await losing(3, () => hosts.network.setLink(two, false));
    expect(report.losses).toMatchObject([{ agentName: 'two', cause: 'lost', rest: 'taken' }]);
    expect(report.ledger.problems).toEqual([]);
    expect(restoredMs).toBeDefined();
    await hosts.network.setLink(two, true);
    await hosts.cluster.haveAgents(NAMES, 2);
  });
});

interface LostRun {
  readonly report: Report;
  readonly restoredMs: number | undefined;
}

/**
 * Ms from `fromMs` until the first step from which on every second is within 2 % of the rate, to the end of the run.
 * Undefined when there is none.
 */
function restoredAfterMs(log: readonly NginxRequest[], fromMs: number, endMs: number): number | undefined {
  const steps = Array.from({ length: Math.floor((endMs - fromMs) / STEP_MS) }, () => 0);
  for (const { endedAtMs } of log) {
    const step = Math.floor((endedAtMs - fromMs) / STEP_MS);
    if (step >= 0 && step < steps.length) steps[step] = (steps[step] ?? 0) + 1;
  }
  let restored: number | undefined;
  for (let step = steps.length - 10; step >= 0; step--) {
    const second = steps.slice(step, step + 10).reduce((sum, count) => sum + count, 0);
    if (Math.abs(second - rate) > rate * 0.02) break;
    restored = step * STEP_MS;
  }
  return restored;
}
