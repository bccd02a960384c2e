/**
 * Which waiting run may start now, and why the others wait. Pure, so that "two runs must never each hold half
 * of the slots" is a property of one function: a run gets all its slots at once or none, and in order.
 */
import { assignShards, type SlotOffer, type SlotWish, shardCountFor } from '../shard/shard-planner.js';

export interface WaitingRun extends SlotWish {
  readonly runId: string;
}

export interface AgentRoom extends SlotOffer {
  /** All slots of the agent, busy ones included. */
  readonly slots: number;
}

export interface AdmissionDecision {
  /** The oldest waiting run, when it can start, and the agent of each of its shards. */
  readonly start?: { readonly runId: string; readonly agentIds: readonly string[] };
  /** Why each other run waits. */
  readonly waiting: ReadonlyMap<string, string>;
}

/**
 * First come, first served: only the oldest run can start, so that a large one is never starved by small ones.
 * @param waiting oldest first.
 */
export function decideAdmission(
  waiting: readonly WaitingRun[],
  agents: readonly AgentRoom[],
): AdmissionDecision {
  const reasons = new Map<string, string>();
  const [oldest, ...others] = waiting;
  if (oldest === undefined) return { waiting: reasons };
  for (const [i, run] of others.entries()) {
    reasons.set(run.runId, `waits for ${i + 1} older ${i === 0 ? 'run' : 'runs'}`);
  }
  const freeSlots = sumOf(agents, (agent) => agent.freeSlots);
  const reason = reasonToWait(oldest, freeSlots, agents);
  if (reason === undefined) {
    const agentIds = assignShards(shardCountFor(oldest, freeSlots), agents);
    if (agentIds !== undefined) return { start: { runId: oldest.runId, agentIds }, waiting: reasons };
  }
  reasons.set(oldest.runId, reason ?? 'waits for free slots');
  return { waiting: reasons };
}

function reasonToWait(run: WaitingRun, freeSlots: number, agents: readonly AgentRoom[]): string | undefined {
  if (agents.length === 0) return 'waits for agents: none is connected';
  const wanted = run.slots ?? 1;
  if (freeSlots >= wanted) return undefined;
  const allSlots = sumOf(agents, (agent) => agent.slots);
  if (allSlots < wanted) return `waits for agents: wants ${wanted} slots, the cluster has ${allSlots}`;
  return `waits for free slots: wants ${wanted}, ${freeSlots} of ${allSlots} are free`;
}

/** True when no waiting can help: there are agents, and all their slots together are too few. */
export function canNeverStart(wish: SlotWish, agents: readonly AgentRoom[]): boolean {
  if (wish.slots === undefined || agents.length === 0) return false;
  return sumOf(agents, (agent) => agent.slots) < wish.slots;
}

function sumOf<T>(items: readonly T[], valueOf: (item: T) => number): number {
  return items.reduce((sum, item) => sum + valueOf(item), 0);
}
