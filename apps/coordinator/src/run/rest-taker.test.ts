import { describe, expect, it } from 'vitest';
import { chooseTaker, type RestRoom } from './rest-taker.js';

function room(agentId: string, given: Partial<RestRoom> = {}): RestRoom {
  return {
    agentId,
    agentName: `agent ${agentId}`,
    slots: 2,
    shards: 2,
    freeSlots: 0,
    freeExtraSlots: 2,
    labels: {},
    ...given,
  };
}

/** Whatever the order in which the agents have joined. */
function takerOf(rooms: readonly RestRoom[], on = {}): string | undefined {
  const taker = chooseTaker(rooms, on)?.agentId;
  expect(chooseTaker(rooms.toReversed(), on)?.agentId).toBe(taker);
  return taker;
}

describe('whoever takes a rest over', () => {
  it('is the agent with most free slots, however much extra room others have', () => {
    const rooms = [
      room('a', { freeExtraSlots: 9 }),
      room('b', { shards: 1, freeSlots: 1 }),
      room('c', { slots: 8, shards: 6, freeSlots: 2 }),
    ];
    expect(takerOf(rooms)).toBe('c');
    expect(chooseTaker(rooms, {})).toEqual({ agentId: 'c', agentName: 'agent c' });
  });

  it('is, where no slot is free, the one that would carry least for its slots', () => {
    expect(takerOf([room('a'), room('b', { slots: 4, shards: 4, freeExtraSlots: 4 })])).toBe('b');
    expect(takerOf([room('a'), room('b', { shards: 3, freeExtraSlots: 1 })])).toBe('a');
  });

  it('is the first by id of those that are equal', () => {
    expect(takerOf([room('b'), room('a'), room('c')])).toBe('a');
  });

  it('has the labels of the run', () => {
    const rooms = [room('a', { freeSlots: 2 }), room('b', { labels: { zone: 'eu' } })];
    expect(takerOf(rooms, { zone: 'eu' })).toBe('b');
    expect(takerOf(rooms, { zone: 'us' })).toBeUndefined();
  });

  it('is nobody when all room is taken', () => {
    expect(takerOf([room('a', { shards: 4, freeExtraSlots: 0 })])).toBeUndefined();
    expect(takerOf([])).toBeUndefined();
  });

  it('changes from one rest to the next, so that they spread evenly', () => {
    const carried = new Map([
      ['a', 2],
      ['b', 2],
      ['c', 4],
    ]);
    const slotsOf = (id: string): number => (id === 'c' ? 4 : 2);
    for (let rest = 0; rest < 4; rest++) {
      const rooms = [...carried].map(([id, shards]) => {
        const slots = slotsOf(id);
        return room(id, { slots, shards, freeExtraSlots: 2 * slots - shards });
      });
      const taker = takerOf(rooms) ?? '';
      carried.set(taker, (carried.get(taker) ?? 0) + 1);
    }
    expect([...carried.values()]).toEqual([3, 3, 6]);
  });
});
