/**
 * Which waiting runs may start now, and why the others wait. Pure, so that "two runs must never each hold half
 * of the slots" is a property of one function: a run gets all its slots at once or none.
 *
 * A run may use the agents that have the labels of its plan: its pool. First come, first served among runs whose
 * pools share an agent, so that a large one is never starved by small ones; runs of other pools pass by. A run
 * that the agents of its pool could not carry out, even if all were free, holds nobody up.
 */
import { type ErrorCode, formatCounted, hasLabels, type Labels, labelsText } from '@broadside/shared';
import { assignShards, type SlotOffer, type SlotWish, shardCountFor } from '../shard/shard-planner.js';

/** What a run asks of the cluster. */
export interface RunWish extends SlotWish {
  /** Labels that every agent of the run must have; absent: every agent will do. */
  readonly on?: Labels | undefined;
}

export interface WaitingRun extends RunWish {
  readonly runId: string;
  /** False while it is being stored: it has its place in the queue and cannot start yet. */
  readonly canStart: boolean;
}

export interface AgentRoom extends SlotOffer {
  /** All slots of the agent, busy ones included. */
  readonly slots: number;
  readonly labels: Labels;
}

export interface Waiting {
  /** 1 for the first of the runs that want the same agents. */
  readonly position: number;
  readonly reason: string;
}

export interface AdmissionDecision {
  /** Runs that start now, oldest first, and the agent of each of their shards. */
  readonly starts: readonly { readonly runId: string; readonly agentIds: readonly string[] }[];
  /** The place of each other run, and why it waits. */
  readonly waiting: ReadonlyMap<string, Waiting>;
}

interface Claim {
  readonly pool: ReadonlySet<string>;
  readonly labels: string;
  /** It waits for slots that the present agents have. */
  readonly holdsUp: boolean;
}

/** Why a run that has its slots must wait all the same, given the runs that start before it; undefined: it need not. */
export type WhyHeld = (runId: string, starting: readonly string[]) => string | undefined;

/**
 * @param waiting oldest first.
 * @param whyHeld runs behind one that is held wait too, or it could wait for ever.
 */
export function decideAdmission(
  waiting: readonly WaitingRun[],
  agents: readonly AgentRoom[],
  whyHeld: WhyHeld = () => undefined,
): AdmissionDecision {
  const starts: { runId: string; agentIds: readonly string[] }[] = [];
  const reasons = new Map<string, Waiting>();
  const claims: Claim[] = [];
  let rooms = agents;
  let isHeldUp = false;
  for (const run of waiting) {
    const pool = poolOf(run, rooms);
    const ids = new Set(pool.map((room) => room.agentId));
    const labels = labelsText(run.on ?? {});
    const older = claims.filter(
      (claim) => claim.labels === labels || [...ids].some((id) => claim.pool.has(id)),
    );
    const ahead = older.filter((claim) => claim.holdsUp).length;
    const noSlots = reasonToWait(run, pool, ahead);
    const held =
      noSlots === undefined
        ? whyHeld(
            run.runId,
            starts.map(({ runId }) => runId),
          )
        : undefined;
    const reason =
      noSlots ?? held ?? (isHeldUp ? 'waits for an older run that waits for the ceiling' : undefined);
    isHeldUp ||= held !== undefined;
    const agentIds = reason === undefined ? assignShards(shardCountFor(run, freeIn(pool)), pool) : undefined;
    if (agentIds !== undefined) {
      starts.push({ runId: run.runId, agentIds });
      rooms = withoutSlots(rooms, agentIds);
      continue;
    }
    claims.push({ pool: ids, labels, holdsUp: slotsIn(pool) >= (run.slots ?? 1) });
    reasons.set(run.runId, { position: older.length + 1, reason: reason ?? 'waits for free slots' });
  }
  return { starts, waiting: reasons };
}

function reasonToWait(run: WaitingRun, pool: readonly AgentRoom[], ahead: number): string | undefined {
  const where = run.on === undefined ? '' : ` with ${labelsText(run.on)}`;
  if (pool.length === 0) return `waits for agents${where}: none is connected`;
  const wanted = run.slots ?? 1;
  const slots = slotsIn(pool);
  if (slots < wanted) {
    const have = run.on === undefined ? `the cluster has ${slots}` : `the agents${where} have ${slots}`;
    return `waits for agents: wants ${formatCounted(wanted, 'slot')}, ${have}`;
  }
  if (ahead > 0) return `waits for ${ahead} older ${ahead === 1 ? 'run' : 'runs'}`;
  const free = freeIn(pool);
  if (free < wanted) return `waits for free slots${where}: wants ${wanted}, ${free} of ${slots} are free`;
  return run.canStart ? undefined : 'is being stored';
}

/** Why a run can never start, and the code that it is refused with. */
export interface WhyNever {
  readonly code: Extract<ErrorCode, 'noSuchAgents' | 'notEnoughSlots'>;
  /** One line. */
  readonly reason: string;
}

/**
 * Why no waiting can help; undefined where it can. Where no agent is connected at all some may still
 * come, as they do when a cluster is started.
 */
export function whyNever(wish: RunWish, agents: readonly AgentRoom[]): WhyNever | undefined {
  if (agents.length === 0) return undefined;
  const pool = poolOf(wish, agents);
  const labels = labelsText(wish.on ?? {});
  if (pool.length === 0) {
    const reason = `no agent has the labels that the plan wants (${labels}); ${labelsThere(agents)}`;
    return { code: 'noSuchAgents', reason };
  }
  const slots = slotsIn(pool);
  const wanted = wish.slots ?? 1;
  if (slots >= wanted) return undefined;
  const wants = `the plan wants ${formatCounted(wanted, 'slot')}`;
  const reason =
    wish.on === undefined
      ? `${wants}, the cluster has ${slots}`
      : `${wants} with ${labels}, the agents with them have ${slots}`;
  return { code: 'notEnoughSlots', reason };
}

/** Sets of labels that one line spells out. */
const MAX_NAMED_LABELS = 4;

function labelsThere(agents: readonly AgentRoom[]): string {
  const there = [...new Set(agents.map((agent) => labelsText(agent.labels)))].filter((text) => text !== '');
  if (there.length === 0) return 'none has any';
  const more = there.length - MAX_NAMED_LABELS;
  return `there are ${there.slice(0, MAX_NAMED_LABELS).join(' | ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function poolOf<Room extends AgentRoom>({ on }: RunWish, agents: readonly Room[]): readonly Room[] {
  return on === undefined ? agents : agents.filter((agent) => hasLabels(agent.labels, on));
}

function withoutSlots(agents: readonly AgentRoom[], agentIds: readonly string[]): AgentRoom[] {
  const taken = new Map<string, number>();
  for (const id of agentIds) taken.set(id, (taken.get(id) ?? 0) + 1);
  return agents.map((agent) => {
    const count = taken.get(agent.agentId) ?? 0;
    return count === 0 ? agent : { ...agent, freeSlots: agent.freeSlots - count };
  });
}

function slotsIn(agents: readonly AgentRoom[]): number {
  return agents.reduce((sum, agent) => sum + agent.slots, 0);
}

function freeIn(agents: readonly AgentRoom[]): number {
  return agents.reduce((sum, agent) => sum + agent.freeSlots, 0);
}
