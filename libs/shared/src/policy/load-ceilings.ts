/**
 * How much load a cluster may carry, per run and over all runs. Pure: judged by what plans ask for, which agents do
 * not exceed: a schedule has its rate, and connections are never more than the plan's.
 */
import { isPaced, type Stage, stagedConnections } from '../plan/load-fields.js';

/** Absent: no ceiling. Rates are requests per second. */
export interface LoadCeilings {
  readonly runRate?: number | undefined;
  readonly clusterRate?: number | undefined;
  readonly runConnections?: number | undefined;
  readonly clusterConnections?: number | undefined;
}

/** What a plan asks for at its highest moment. */
export interface LoadDemand {
  /** Undefined in the closed model, whose rate nobody knows before. */
  readonly rate: number | undefined;
  readonly connections: number;
}

interface DemandFields {
  readonly rate?: number | undefined;
  readonly stages?: readonly Stage[] | undefined;
  readonly connections: number;
}

export function demandOf(plan: DemandFields): LoadDemand {
  const connections = Math.max(plan.connections, stagedConnections(plan.stages) ?? 0);
  if (!isPaced(plan)) return { rate: undefined, connections };
  const rates = (plan.stages ?? []).map((stage) => stage.rate ?? 0);
  return { rate: Math.max(plan.rate ?? 0, ...rates), connections };
}

/** Why such a plan can never run under the ceilings, in one line; undefined when it can. */
export function whyAboveCeilings(ceilings: LoadCeilings, demand: LoadDemand): string | undefined {
  const { runRate, clusterRate, runConnections, clusterConnections } = ceilings;
  const rateCeiling = leastOf(runRate, clusterRate);
  if (rateCeiling !== undefined && demand.rate === undefined) {
    return `a run without a rate has no bound, and a run here may send ${rateCeiling} requests/s at most: give it one`;
  }
  if (rateCeiling !== undefined && (demand.rate ?? 0) > rateCeiling) {
    return `the plan asks for ${demand.rate} requests/s, a run here may send ${rateCeiling} at most`;
  }
  const most = leastOf(runConnections, clusterConnections);
  if (most !== undefined && demand.connections > most) {
    return `the plan asks for ${demand.connections} connections, a run here may have ${most} at most`;
  }
  return undefined;
}

/**
 * Why a run cannot start beside those that run now; undefined when all of them together stay under the ceilings.
 * @param running what they ask for; of a run without a rate (begun under other ceilings) it is not known.
 */
export function whyNoRoom(
  ceilings: LoadCeilings,
  demand: LoadDemand,
  running: readonly LoadDemand[],
): string | undefined {
  const { clusterRate, clusterConnections } = ceilings;
  if (clusterRate !== undefined) {
    if (running.some(({ rate }) => rate === undefined)) return 'waits for a run that has no rate';
    const rate = sumOf(running.map((each) => each.rate ?? 0));
    if (rate + (demand.rate ?? Number.POSITIVE_INFINITY) > clusterRate) {
      return `waits for the ceiling: ${rate} of ${clusterRate} requests/s are in use`;
    }
  }
  if (clusterConnections !== undefined) {
    const connections = sumOf(running.map((each) => each.connections));
    if (connections + demand.connections > clusterConnections) {
      return `waits for the ceiling: ${connections} of ${clusterConnections} connections are in use`;
    }
  }
  return undefined;
}

function leastOf(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}
