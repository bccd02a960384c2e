/** Who gets how many shards. Pure; the division of the load itself is `splitPlan` of libs/shared. */

export interface SlotOffer {
  readonly agentId: string;
  readonly freeSlots: number;
}

export interface SlotWish {
  /** Slots the plan insists on; absent: as many as are free. */
  readonly slots?: number | undefined;
  readonly connections: number;
}

/** Shards of a run that takes what `freeSlots` allow: never more than one per connection. */
export function shardCountFor(wish: SlotWish, freeSlots: number): number {
  return wish.slots ?? Math.min(freeSlots, wish.connections);
}

/**
 * Gives each shard to an agent, in rounds: every agent with a free slot gets one before any gets a second.
 * @returns for shard k the id of its agent, or undefined when there are too few free slots.
 */
export function assignShards(shardCount: number, offers: readonly SlotOffer[]): string[] | undefined {
  const open = offers.map((offer) => ({ agentId: offer.agentId, free: offer.freeSlots }));
  const assigned: string[] = [];
  while (assigned.length < shardCount) {
    const before = assigned.length;
    for (const agent of open) {
      if (agent.free <= 0 || assigned.length >= shardCount) continue;
      agent.free--;
      assigned.push(agent.agentId);
    }
    if (assigned.length === before) return undefined;
  }
  return assigned;
}
