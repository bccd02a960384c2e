/**
 * Which agent takes over what a lost attempt left behind. Pure. A free slot comes first; where all are busy, an agent
 * carries the rest in an extra slot, beside its own shards of the run (docs/adr/0002).
 */
import { hasLabels, type Labels } from '@broadside/shared';
import type { AgentRoom } from './admission.js';

export interface RestRoom extends AgentRoom {
  readonly agentName: string;
  /** What it carries now, in slots of both kinds. */
  readonly shards: number;
  readonly freeExtraSlots: number;
}

export interface Taker {
  readonly agentId: string;
  readonly agentName: string;
}

/**
 * The agent with most free slots; where there are none, the one that would carry least for its slots.
 * @param on labels that it must have.
 * @returns undefined when nobody has room.
 */
export function chooseTaker(rooms: readonly RestRoom[], on: Labels): Taker | undefined {
  const pool = rooms.filter(({ labels }) => hasLabels(labels, on));
  const free = pool.filter(({ freeSlots }) => freeSlots > 0);
  const extra = pool.filter(({ freeExtraSlots }) => freeExtraSlots > 0);
  const [taker] =
    free.length > 0
      ? free.toSorted((a, b) => b.freeSlots - a.freeSlots || byId(a, b))
      : extra.toSorted((a, b) => loadWithOneMore(a) - loadWithOneMore(b) || byId(a, b));
  return taker && { agentId: taker.agentId, agentName: taker.agentName };
}

/** Shards for each slot. */
function loadWithOneMore({ shards, slots }: RestRoom): number {
  return (shards + 1) / slots;
}

function byId(a: RestRoom, b: RestRoom): number {
  return a.agentId < b.agentId ? -1 : 1;
}
