import { COUNTER, type Counters, counterOf, countersToRecord, notSentOf } from '../metrics/counters.js';
import type { Fatal } from '../metrics/fatal.js';
import { ledgerProblems } from '../metrics/ledger.js';
import { isPaced } from '../plan/load-fields.js';
import type { Plan } from '../plan/plan.schema.js';
import { redactPlan } from '../plan/redact-plan.js';
import { BROADSIDE_VERSION } from '../version.js';
import { type AgentFigures, agentReports } from './agent-figures.js';
import { type Loss, type LossBooks, lossBooksOf } from './loss.js';
import { outlyingAgents } from './outliers.js';
import { type AgentFacts, REPORT_VERSION, type Report, type ShardReport } from './report.schema.js';
import type { RunTotals } from './run-totals.js';
import { verdictOf } from './verdict.js';

/** Everything a report is made of. */
export interface ReportInput {
  readonly plan: Plan;
  readonly run: Report['run'];
  readonly target: Report['target'];
  readonly failureReasons?: Report['failureReasons'] | undefined;
  /** Sum of the intervals of all shards. */
  readonly totals: RunTotals;
  readonly seconds: Report['seconds'];
  readonly agents: readonly AgentFacts[];
  /** By agent id. */
  readonly figures?: ReadonlyMap<string, AgentFigures> | undefined;
  /** Every attempt at every shard. Counters: its own totals, else the sum of what arrived from it. */
  readonly shards: readonly ShardReport[];
  readonly requestBytes: number;
  readonly requestBodyBytes: number;
  readonly referenceBytes?: number | undefined;
  /** What became of attempts whose agents went. The counters of `totals` are as they came. */
  readonly losses?: readonly Loss[] | undefined;
  /** A fatal error that is no shard's, such as a failed probe. Without it the first one of a shard counts. */
  readonly fatal?: Fatal | undefined;
  /** What the caller found missing or different, from `checkShard` and from its own books. */
  readonly problems: readonly string[];
  /** What the agents found doubtful before the load began. */
  readonly warnings?: readonly string[] | undefined;
}

/** Folds a run into its report: ledger and verdict included. */
export function buildReport(input: ReportInput): Report {
  const { plan, run, totals } = input;
  const losses = input.losses ?? [];
  const lossBooks = lossBooksOf(losses);
  const counters = withLosses(totals.counters, lossBooks);
  const problems = [...input.problems, ...ledgerProblems(counters, ledgerContextOf(input, lossBooks))];
  const fatal = input.fatal ?? input.shards.find((shard) => shard.fatal !== undefined)?.fatal;
  const agents = agentReports(input.agents, input.shards, input.figures ?? new Map());
  // A lost one saw only a part of the run.
  const peers = agents.filter((agent) => !agent.lost);
  // One that took a rest over had more to do than its part.
  const takers = new Set(input.shards.flatMap(({ attempt, agentId }) => (attempt > 1 ? [agentId] : [])));
  const outliers = outlyingAgents(
    peers.map(({ plannedShare, rateHz, ...agent }) => ({
      ...agent,
      ended: agent.completed + agent.failed,
      ...(takers.has(agent.agentId) ? {} : { rateHz, share: plannedShare }),
    })),
  );
  const withoutVerdict: Omit<Report, 'verdict'> = {
    format: 'broadside-report',
    reportVersion: REPORT_VERSION,
    broadsideVersion: BROADSIDE_VERSION,
    run,
    plan: redactPlan(plan),
    target: input.target,
    ...(input.failureReasons === undefined ? {} : { failureReasons: input.failureReasons }),
    timeTakenUs: timeTakenUsOf(input),
    counters: countersToRecord(counters),
    statusCounts: totals.statusRecord(),
    lostWithAgent: lossBooks.lostWithAgent,
    ...(lossBooks.notSentWithAgent === 0 ? {} : { notSentWithAgent: lossBooks.notSentWithAgent }),
    ...(losses.length === 0 ? {} : { losses: [...losses] }),
    requestBytes: input.requestBytes,
    requestBodyBytes: input.requestBodyBytes,
    ...(input.referenceBytes === undefined ? {} : { referenceBytes: input.referenceBytes }),
    latency: totals.latencies(),
    requestsPerConnection: totals.requestsPerConnection(),
    seconds: input.seconds,
    agents,
    ...(outliers.length === 0 ? {} : { outliers }),
    shards: [...input.shards],
    ...(fatal === undefined ? {} : { fatal }),
    ...(input.warnings === undefined || input.warnings.length === 0 ? {} : { warnings: [...input.warnings] }),
    ledger: { balanced: problems.length === 0, problems },
  };
  return { ...withoutVerdict, verdict: verdictOf(withoutVerdict) };
}

/**
 * Without the warm-up. A schedule lasts as long as it was asked to, also when its last request was answered before
 * the end: 30 requests at 1 per second take 30 s, and not the 29 s between the first and the last.
 */
function timeTakenUsOf({ plan, run, totals }: ReportInput): number {
  const takenUs = Math.max(totals.timeTakenUs - (plan.warmupMs ?? 0) * 1_000, 0);
  const isWhole =
    run.state === 'finished' && notSentOf(totals.counters) === totals.counter('notSentNoConnection');
  const isTimed = isPaced(plan) && plan.durationMs !== undefined && isWhole;
  const hasAll = totals.counter('planned') === plan.requests;
  return isTimed && !hasAll ? Math.max(takenUs, (plan.durationMs ?? 0) * 1_000) : takenUs;
}

/** A run that never started has nothing planned, so its request budget is not held against it. */
function ledgerContextOf({ plan, run }: ReportInput, lossBooks: LossBooks) {
  const hasFixedBudget = run.startedAt !== undefined && plan.durationMs === undefined;
  return { ...lossBooks, isFinal: true, requests: hasFixedBudget ? plan.requests : undefined };
}

/** The merged counters with the entries that close the books of lost attempts. */
function withLosses(counters: Counters, { planned, notSentStopped, notSentTimeOver }: LossBooks): Counters {
  const closed = counters.slice();
  closed[COUNTER.planned] = counterOf(counters, 'planned') + planned;
  closed[COUNTER.notSentStopped] = counterOf(counters, 'notSentStopped') + notSentStopped;
  closed[COUNTER.notSentTimeOver] = counterOf(counters, 'notSentTimeOver') + notSentTimeOver;
  return closed;
}
