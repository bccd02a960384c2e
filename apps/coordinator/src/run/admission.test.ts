import { describe, expect, it } from 'vitest';
import { canNeverStart, decideAdmission } from './admission.js';

const agents = [
  { agentId: 'a', slots: 2, freeSlots: 2 },
  { agentId: 'b', slots: 2, freeSlots: 1 },
];

describe('admission', () => {
  it('gives the oldest run all free slots', () => {
    const decision = decideAdmission([{ runId: 'r1', connections: 10 }], agents);
    expect(decision.start).toEqual({ runId: 'r1', agentIds: ['a', 'b', 'a'] });
  });

  it('gives a run that names a number of slots exactly that many', () => {
    const decision = decideAdmission([{ runId: 'r1', connections: 10, slots: 2 }], agents);
    expect(decision.start?.agentIds).toEqual(['a', 'b']);
  });

  it('holds a run back until all the slots it names are free, and says so', () => {
    const decision = decideAdmission([{ runId: 'r1', connections: 10, slots: 4 }], agents);
    expect(decision.start).toBeUndefined();
    expect(decision.waiting.get('r1')).toBe('waits for free slots: wants 4, 3 of 4 are free');
  });

  it('never lets a younger run pass an older one', () => {
    const decision = decideAdmission(
      [
        { runId: 'large', connections: 10, slots: 4 },
        { runId: 'small', connections: 10, slots: 1 },
      ],
      agents,
    );
    expect(decision.start).toBeUndefined();
    expect(decision.waiting.get('small')).toBe('waits for 1 older run');
  });

  it('lets two runs of one moment both run, one after the other, and none holds half', () => {
    const waiting = [
      { runId: 'r1', connections: 100 },
      { runId: 'r2', connections: 100 },
    ];
    const first = decideAdmission(waiting, agents);
    expect(first.start?.runId).toBe('r1');
    const none = agents.map((agent) => ({ ...agent, freeSlots: 0 }));
    expect(decideAdmission(waiting.slice(1), none).start).toBeUndefined();
    expect(decideAdmission(waiting.slice(1), agents).start?.runId).toBe('r2');
  });

  it('waits for agents when there are none', () => {
    const decision = decideAdmission([{ runId: 'r1', connections: 1 }], []);
    expect(decision.waiting.get('r1')).toBe('waits for agents: none is connected');
  });

  it('knows a wish that no waiting can fulfil', () => {
    expect(canNeverStart({ connections: 10, slots: 5 }, agents)).toBe(true);
    expect(canNeverStart({ connections: 10, slots: 4 }, agents)).toBe(false);
    expect(canNeverStart({ connections: 10 }, agents)).toBe(false);
    expect(canNeverStart({ connections: 10, slots: 5 }, [])).toBe(false);
  });
});
