import { EXIT, parsePlan, type Report } from '@broadside/shared';
import { CliError } from '../cli-error.js';
import type { OpenCluster } from '../cluster/open-cluster.js';
import { fireRun } from '../run/fire-run.js';
import type { StopSignals } from '../run/stop-signals.js';
import { type Finding, outcomeOf, type Stalls, stallsOf } from './finding.js';
import { judge, type Scenario } from './scenario.js';
import type { TargetProcess } from './target-process.js';
import { measureWayUs } from './way.js';

export interface SelfTestOptions {
  readonly scenarios: readonly Scenario[];
  /** How often a scenario is run at most while its times are unclear. */
  readonly attempts: number;
  readonly cluster: OpenCluster;
  readonly target: Pick<TargetProcess, 'url' | 'begin' | 'tell'>;
  readonly signals: StopSignals;
  /** A line for the person who waits. */
  readonly onNotice: (line: string) => void;
}

export interface SelfTestResult {
  readonly findings: readonly Finding[];
  readonly conditions: readonly Condition[];
  /** What the engine threads spoke to the target through. */
  readonly transports: readonly string[];
  /** A signal came before everything was run. */
  readonly isPartial: boolean;
}

/** How the machine was while a scenario ran; without stalls where the platform does not tell. */
export interface Condition {
  readonly scenario: string;
  readonly stalls?: Stalls;
  /** From the target's stamp to a plain client; of scenarios that compare times with the target's. */
  readonly wayUs?: number;
}

/** Runs every scenario through the cluster and judges it. Ends early, with what there is, at a signal. */
export async function runSelfTest(options: SelfTestOptions): Promise<SelfTestResult> {
  const judged: JudgedRun[] = [];
  for (const scenario of options.scenarios) {
    options.onNotice(`${scenario.name}: ${scenario.purpose}`);
    const run = await judgedRun(scenario, options);
    if (run === undefined) break;
    judged.push(run);
  }
  return {
    findings: judged.flatMap(({ findings }) => findings),
    conditions: judged.map(({ condition }) => condition),
    transports: [...new Set(judged.flatMap(({ transports }) => transports))],
    isPartial: judged.length < options.scenarios.length,
  };
}

interface JudgedRun {
  readonly findings: readonly Finding[];
  readonly condition: Condition;
  readonly transports: readonly string[];
}

/** The last of the attempts at a scenario; undefined when a signal came before it had ended. */
async function judgedRun(scenario: Scenario, options: SelfTestOptions): Promise<JudgedRun | undefined> {
  const { attempts, signals, target, onNotice } = options;
  for (let attempt = 1; signals.received === undefined; attempt++) {
    const wayUs = scenario.needsWay === true ? await measureWayUs(target) : undefined;
    if (signals.received !== undefined) break;
    const run = await runOnce(scenario, options, wayUs);
    // A run that was stopped has not done what is claimed about it.
    if (signals.received !== undefined) break;
    if (outcomeOf(run.findings) !== 'unclear' || attempt >= attempts) return run;
    onNotice(`${scenario.name}: the machine was busy, once more`);
  }
  return undefined;
}

async function runOnce(
  scenario: Scenario,
  options: SelfTestOptions,
  wayUs: number | undefined,
): Promise<JudgedRun> {
  const report = await fire(scenario, options);
  if (report.run.state === 'failed') {
    const reason = report.run.reason ?? 'the run failed';
    throw new CliError(EXIT.runFailed, `self-test: ${scenario.name}: ${reason}`);
  }
  const record = await options.target.tell();
  const stalls = stallsOf(report, record);
  return {
    findings: judge(scenario, { report, record, stalls, wayUs: wayUs ?? 0 }),
    condition: {
      scenario: scenario.name,
      ...(stalls === undefined ? {} : { stalls }),
      ...(wayUs === undefined ? {} : { wayUs }),
    },
    transports: report.shards.flatMap(({ transport }) => transport ?? []),
  };
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
    openCluster: () =>
      Promise.resolve({ address: cluster.address, isLasting: false, close: () => Promise.resolve() }),
    signals,
    onMessage: () => undefined,
    onNotice: () => undefined,
  });
}
