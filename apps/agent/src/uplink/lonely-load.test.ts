import { LIMITS } from '@broadside/shared';
import { expect, it } from 'vitest';
import { LonelyLoad } from './lonely-load.js';

function timersByHand() {
  const armed = new Map<() => void, number>();
  return {
    armed,
    after: (delayMs: number, act: () => void) => {
      armed.set(act, delayMs);
      return () => void armed.delete(act);
    },
  };
}

it('ends the load when the coordinator stays away, counted from the moment it left', () => {
  const timers = timersByHand();
  const reasons: string[] = [];
  const lonely = new LonelyLoad(timers, (reason) => reasons.push(reason));
  lonely.coordinatorIsAway();
  // Attempts to reconnect that fail do not begin the time again.
  lonely.coordinatorIsAway();
  expect([...timers.armed.values()]).toEqual([LIMITS.lonelyLoadMs]);
  for (const act of timers.armed.keys()) act();
  expect(reasons).toEqual(['the coordinator has been away for 60 s']);
});

it('leaves the load alone when the coordinator is back', () => {
  const timers = timersByHand();
  const lonely = new LonelyLoad(timers, () => expect.fail('stopped'));
  lonely.coordinatorIsAway();
  lonely.coordinatorIsThere();
  lonely.coordinatorIsThere();
  expect(timers.armed.size).toBe(0);
});
