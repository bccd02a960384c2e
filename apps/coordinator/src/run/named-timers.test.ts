import { expect, it } from 'vitest';
import { NamedTimers } from './named-timers.js';

it('puts off what is armed again, but not what is armed once', () => {
  const waiting = new Map<() => void, number>();
  const timers = new NamedTimers({
    after: (delayMs, act) => {
      waiting.set(act, delayMs);
      return () => waiting.delete(act);
    },
  });
  for (const delayMs of [10, 20]) timers.arm('again', delayMs, () => undefined);
  for (const delayMs of [30, 40]) timers.armOnce('once', delayMs, () => undefined);
  expect([...waiting.values()]).toEqual([20, 30]);
  for (const act of waiting.keys()) act();
  expect([timers.isArmed('again'), timers.isArmed('once')]).toEqual([false, false]);
});
