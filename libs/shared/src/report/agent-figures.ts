/** What one agent did and saw in a run, from its shards. Pure. */
import { counterOf, countersFromRecord, failedOf } from '../metrics/counters.js';
import type { AgentFacts, AgentReport, ShardReport } from './report.schema.js';

/** What only intervals and totals tell. Absent: nothing ended on it, or its totals never came. */
export interface AgentFigures {
  /** Requests that ended per second of its own load. */
  readonly rateHz?: number | undefined;
  /** Its part of the load as it was divided, 0 … 1. */
  readonly plannedShare?: number | undefined;
  readonly p50Us?: number | undefined;
  readonly p99Us?: number | undefined;
}

/** The row of each agent: its facts, what its shards add up to, and how it fared beside the others. */
export function agentReports(
  agents: readonly AgentFacts[],
  shards: readonly ShardReport[],
  figures: ReadonlyMap<string, AgentFigures>,
): AgentReport[] {
  const rows = agents.map((agent) => {
    const own = shards.filter((shard) => shard.agentId === agent.agentId);
    return { agent, own, ...endedOn(own) };
  });
  const all = rows.reduce((sum, { completed, failed }) => sum + completed + failed, 0);
  return rows.map(({ agent, own, completed, failed }) => {
    const known = figures.get(agent.agentId) ?? {};
    const optional = {
      ...known,
      share: all === 0 ? undefined : (completed + failed) / all,
      startSkewUs: farthest(own.flatMap(({ startSkewUs }) => startSkewUs ?? [])),
      stopSkewUs: farthest(own.flatMap(({ stopSkewUs }) => stopSkewUs ?? [])),
      busyShare: largest(own.flatMap(({ self }) => self?.busyShare ?? [])),
    };
    return {
      ...agent,
      shards: own.length,
      connections: own.reduce((sum, shard) => sum + shard.connections, 0),
      completed,
      failed,
      ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
    };
  });
}

function endedOn(shards: readonly ShardReport[]): { completed: number; failed: number } {
  let completed = 0;
  let failed = 0;
  for (const { counters } of shards) {
    if (counters === undefined) continue;
    const counted = countersFromRecord(counters);
    completed += counterOf(counted, 'completed');
    failed += failedOf(counted);
  }
  return { completed, failed };
}

/** Farthest from 0. */
function farthest(values: readonly number[]): number | undefined {
  return values.reduce<number | undefined>(
    (far, value) => (far === undefined || Math.abs(value) > Math.abs(far) ? value : far),
    undefined,
  );
}

function largest(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : Math.max(...values);
}
