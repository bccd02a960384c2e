import { parsePlan, type Report } from '@broadside/shared';
import type { OpenCluster } from '../cluster/open-cluster.js';
import { fireRun } from '../run/fire-run.js';
import type { StopSignals } from '../run/stop-signals.js';
import { type Finding, outcomeOf } from './finding.js';
import { judge, type Scenario } from './scenario.js';
import type { TargetProcess } from './target-process.js';
import { measureWayUs } from './way.js';

export interface SelfTestOptions {
  readonly scenarios: readonly Scenario[];
  /** How often a scenario is run at most while its times are unclear. */
  readonly attempts: number;
  readonly cluster: OpenCluster;
  readonly target: TargetProcess;
  readonly signals: StopSignals;
  /** A line for the person who waits. */
  readonly onNotice: (line: string) => void;
}

export interface SelfTestResult {
  readonly findings: readonly Finding[];
  /** What the engine threads spoke to the target through. */
  readonly transports: readonly string[];
}

/** Runs every scenario through the cluster and judges it. Ends early, with what there is, at a signal. */
export async function runSelfTest(options: SelfTestOptions): Promise<SelfTestResult> {
  const findings: Finding[] = [];
  const transports = new Set<string>();
  for (const scenario of options.scenarios) {
    options.onNotice(`${scenario.name}: ${scenario.purpose}`);
    let found: Finding[] = [];
    for (let attempt = 1; attempt <= options.attempts; attempt++) {
      if (options.signals.received !== undefined) return { findings, transports: [...transports] };
      const wayUs = scenario.needsWay === true ? await measureWayUs(options.target) : 0;
      const report = await fire(scenario, options);
      for (const { transport } of report.shards) if (transport !== undefined) transports.add(transport);
      found = judge(scenario, { report, record: await options.target.tell(), wayUs });
      if (outcomeOf(found) !== 'unclear') break;
      if (attempt < options.attempts) options.onNotice(`${scenario.name}: the machine was busy, once more`);
    }
    findings.push(...found);
  }
  return { findings, transports: [...transports] };
}

async function fire(scenario: Scenario, options: SelfTestOptions): Promise<Report> {
  const { cluster, target, signals } = options;
  const parsed = parsePlan({ ...scenario.plan, target: target.url, name: `self-test ${scenario.name}` });
  if (!parsed.ok) {
    throw new TypeError(`the plan of ${scenario.name} is not valid: ${JSON.stringify(parsed.problems)}`);
  }
  await target.begin(scenario.script);
  return await fireRun({
    plan: parsed.plan,
    // The same for all scenarios, closed at the end of them.
    openCluster: () => Promise.resolve({ address: cluster.address, close: () => Promise.resolve() }),
    signals,
    onMessage: () => undefined,
    onNotice: () => undefined,
  });
}
