import { hasLabels, type Labels, labelsText } from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import { type AgentRoom, decideAdmission, type WaitingRun, whyNever } from './admission.js';

const agents: AgentRoom[] = [
  { agentId: 'a', slots: 2, freeSlots: 2, labels: {} },
  { agentId: 'b', slots: 2, freeSlots: 1, labels: {} },
];
const zoned: AgentRoom[] = [
  { agentId: 'e', slots: 2, freeSlots: 2, labels: { zone: 'eu' } },
  { agentId: 'u', slots: 2, freeSlots: 2, labels: { zone: 'us' } },
];

function run(runId: string, wish: Partial<WaitingRun> = {}): WaitingRun {
  return { runId, connections: 100, canStart: true, ...wish };
}

describe('admission', () => {
  it('gives the oldest run all free slots', () => {
    const { starts } = decideAdmission([run('r1')], agents);
    expect(starts).toEqual([{ runId: 'r1', agentIds: ['a', 'b', 'a'] }]);
  });

  it('gives a run that names a number of slots exactly that many', () => {
    const { starts } = decideAdmission([run('r1', { slots: 2 })], agents);
    expect(starts[0]?.agentIds).toEqual(['a', 'b']);
  });

  it('starts several runs at once when the slots are there', () => {
    const { starts, waiting } = decideAdmission([run('r1', { slots: 2 }), run('r2', { slots: 1 })], agents);
    expect(starts.map(({ runId }) => runId)).toEqual(['r1', 'r2']);
    expect(waiting.size).toBe(0);
  });

  it('holds a run back for another reason than slots, and those behind it, so that they do not pass it', () => {
    const asked: unknown[] = [];
    const { starts, waiting } = decideAdmission(
      [run('r1', { slots: 1 }), run('r2', { slots: 1 }), run('r3', { slots: 1 })],
      agents,
      (runId, starting) => {
        asked.push([runId, ...starting]);
        return runId === 'r2' ? 'waits for the ceiling' : undefined;
      },
    );
    expect(starts.map(({ runId }) => runId)).toEqual(['r1']);
    expect(waiting.get('r2')?.reason).toBe('waits for the ceiling');
    expect(waiting.get('r3')?.reason).toBe('waits for 1 older run');
    expect(asked).toEqual([['r1'], ['r2', 'r1']]);
  });

  it('holds a run back until all the slots it names are free, and says so', () => {
    const { starts, waiting } = decideAdmission([run('r1', { slots: 4 })], agents);
    expect(starts).toEqual([]);
    expect(waiting.get('r1')).toEqual({
      position: 1,
      reason: 'waits for free slots: wants 4, 3 of 4 are free',
    });
  });

  it('never lets a younger run pass an older one that wants the same agents', () => {
    const { starts, waiting } = decideAdmission(
      [run('large', { slots: 4 }), run('small', { slots: 1 })],
      agents,
    );
    expect(starts).toEqual([]);
    expect(waiting.get('small')).toEqual({ position: 2, reason: 'waits for 1 older run' });
  });

  it('lets a run of another pool pass, and none that shares an agent', () => {
    const busy = zoned.map((room) => (room.agentId === 'e' ? { ...room, freeSlots: 0 } : room));
    const { starts, waiting } = decideAdmission(
      [run('eu', { on: { zone: 'eu' } }), run('us', { on: { zone: 'us' }, slots: 1 }), run('any')],
      busy,
    );
    expect(starts).toEqual([{ runId: 'us', agentIds: ['u'] }]);
    expect(waiting.get('eu')?.reason).toBe('waits for free slots with zone=eu: wants 1, 0 of 2 are free');
    expect(waiting.get('any')).toEqual({ position: 2, reason: 'waits for 1 older run' });
  });

  it('uses only agents with the labels', () => {
    const { starts } = decideAdmission([run('eu', { on: { zone: 'eu' } })], zoned);
    expect(starts[0]?.agentIds).toEqual(['e', 'e']);
  });

  it('is held up by no run that the agents of its pool could never carry out', () => {
    const { starts, waiting } = decideAdmission(
      [run('much', { slots: 5 }), run('asia', { on: { zone: 'asia' } }), run('r3')],
      zoned,
    );
    expect(starts.map(({ runId }) => runId)).toEqual(['r3']);
    expect(waiting.get('much')?.reason).toBe('waits for agents: wants 5 slots, the cluster has 4');
    expect(waiting.get('asia')?.reason).toBe('waits for agents with zone=asia: none is connected');
  });

  it('lets two runs of one moment both run, one after the other, and none holds half', () => {
    const both = [run('r1'), run('r2')];
    const first = decideAdmission(both, agents);
    expect(first.starts.map(({ runId }) => runId)).toEqual(['r1']);
    expect(first.waiting.get('r2')?.position).toBe(1);
    expect(decideAdmission(both.slice(1), agents).starts[0]?.runId).toBe('r2');
  });

  it('waits for agents when there are none, in the order of coming', () => {
    const { waiting } = decideAdmission([run('r1'), run('r2')], []);
    expect(waiting.get('r1')).toEqual({ position: 1, reason: 'waits for agents: none is connected' });
    expect(waiting.get('r2')?.position).toBe(2);
  });

  it('keeps the place of a run that is being stored', () => {
    const { starts, waiting } = decideAdmission([run('r1', { canStart: false }), run('r2')], agents);
    expect(starts).toEqual([]);
    expect(waiting.get('r1')?.reason).toBe('is being stored');
    expect(waiting.get('r2')?.reason).toBe('waits for 1 older run');
  });

  it('knows a wish that no waiting can fulfil', () => {
    const wish = { connections: 10 };
    expect(whyNever({ ...wish, slots: 5 }, agents)).toEqual({
      code: 'notEnoughSlots',
      reason: 'the plan wants 5 slots, the cluster has 4',
    });
    expect(whyNever({ ...wish, slots: 4 }, agents)).toBeUndefined();
    expect(whyNever(wish, agents)).toBeUndefined();
    expect(whyNever({ ...wish, slots: 5 }, [])).toBeUndefined();
    expect(whyNever({ ...wish, on: { zone: 'eu' }, slots: 3 }, zoned)).toEqual({
      code: 'notEnoughSlots',
      reason: 'the plan wants 3 slots with zone=eu, the agents with them have 2',
    });
  });

  it('tells labels that no agent has from too few slots', () => {
    const wish = { connections: 10, on: { zone: 'asia' } };
    expect(whyNever(wish, zoned)).toEqual({
      code: 'noSuchAgents',
      reason: 'no agent has the labels that the plan wants (zone=asia); there are zone=eu | zone=us',
    });
    expect(whyNever(wish, agents)?.reason).toMatch(/; none has any$/);
  });
});

/** Seeded, and printed with what fails. */
function randomBelow(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

describe('admission of any runs to any agents', () => {
  const seed = Math.floor(Math.random() * 1e9);
  const below = randomBelow(seed);
  const labelsOf = (): Labels => ({
    ...(below(2) === 0 ? {} : { zone: ['eu', 'us'][below(2)] ?? '' }),
    ...(below(3) > 0 ? {} : { disk: 'fast' }),
  });

  function anyCase(): { waiting: WaitingRun[]; rooms: AgentRoom[] } {
    const rooms = Array.from({ length: below(6) }, (_, i) => {
      const slots = 1 + below(4);
      return { agentId: `a${i}`, slots, freeSlots: below(slots + 1), labels: labelsOf() };
    });
    const waiting = Array.from({ length: below(8) }, (_, i) =>
      run(`r${i}`, {
        connections: 1 + below(8),
        canStart: below(8) > 0,
        ...(below(2) === 0 ? {} : { on: labelsOf() }),
        ...(below(2) === 0 ? {} : { slots: 1 + below(5) }),
      }),
    );
    return { waiting, rooms };
  }

  it(`is whole, within its pool, in order, and idle for no reason (seed ${seed})`, () => {
    for (let round = 0; round < 3_000; round++) {
      const { waiting, rooms } = anyCase();
      const { starts, waiting: reasons } = decideAdmission(waiting, rooms);
      const where = `seed ${seed}, round ${round}`;
      const free = new Map(rooms.map((room) => [room.agentId, room.freeSlots]));
      const poolOf = (one: WaitingRun): AgentRoom[] =>
        rooms.filter((room) => one.on === undefined || hasLabels(room.labels, one.on));
      const passed: WaitingRun[] = [];
      for (const one of waiting) {
        const start = starts.find(({ runId }) => runId === one.runId);
        const pool = poolOf(one);
        const isHeldUp = passed.some((older) => {
          const isMeetable = poolOf(older).reduce((sum, room) => sum + room.slots, 0) >= (older.slots ?? 1);
          const isShared =
            labelsText(older.on ?? {}) === labelsText(one.on ?? {}) ||
            poolOf(older).some((room) => pool.includes(room));
          return isMeetable && isShared;
        });
        const freeHere = pool.reduce((sum, room) => sum + (free.get(room.agentId) ?? 0), 0);
        const isRoom = freeHere >= (one.slots ?? 1);
        // Whoever could start does, and nobody else.
        expect(start !== undefined, where).toBe(one.canStart && isRoom && !isHeldUp);
        expect(reasons.has(one.runId), where).toBe(start === undefined);
        if (start === undefined) passed.push(one);
        for (const id of start?.agentIds ?? []) {
          expect(
            pool.map((room) => room.agentId),
            where,
          ).toContain(id);
          free.set(id, (free.get(id) ?? 0) - 1);
        }
        if (start !== undefined) {
          expect(start.agentIds.length, where).toBe(one.slots ?? Math.min(freeHere, one.connections));
        }
      }
      for (const left of free.values()) expect(left, where).toBeGreaterThanOrEqual(0);
    }
  });
});
