import { expect, it } from 'vitest';
import { EventWait } from './event-wait.js';

/** A look takes 1 µs; events come when the clock says so, and a sleep ends with them or with its time. */
function simulate(eventAtUs: number) {
  let nowUs = 1_000;
  const sleeps: number[] = [];
  const wait = new EventWait({ nowUs: () => nowUs }, (timeoutUs) => {
    if (timeoutUs > 0) sleeps.push(timeoutUs);
    nowUs = Math.max(nowUs + 1, Math.min(nowUs + timeoutUs, eventAtUs));
    return nowUs >= eventAtUs ? 1 : 0;
  });
  return { wait, sleeps, nowUs: () => nowUs };
}

it('finds an event that comes soon without a sleep', () => {
  const { wait, sleeps, nowUs } = simulate(1_030);
  expect(wait.until(5_000)).toBe(1);
  expect(sleeps).toEqual([]);
  expect(nowUs()).toBe(1_030);
  expect(wait.polledUs).toBe(29);
  expect(wait.idleUs).toBe(29);
});

it('sleeps for the rest when nothing comes, and counts only the looking as looking', () => {
  const { wait, sleeps, nowUs } = simulate(3_000);
  expect(wait.until(5_000)).toBe(1);
  expect(sleeps).toHaveLength(1);
  expect(nowUs()).toBe(3_000);
  expect(wait.idleUs).toBe(2_000);
  expect(wait.polledUs).toBeLessThan(150);
});

it('comes back in time when the next turn is due before any event', () => {
  const { wait, sleeps, nowUs } = simulate(9_000);
  expect(wait.until(1_020)).toBe(0);
  expect(nowUs()).toBe(1_020);
  expect(sleeps).toEqual([]);
});

it('stops looking once waits are long', () => {
  const { wait } = simulate(Number.POSITIVE_INFINITY);
  for (let nextUs = 5_000; nextUs < 50_000; nextUs += 4_000) wait.until(nextUs);
  const { polledUs } = wait;
  wait.until(60_000);
  expect(wait.polledUs).toBe(polledUs);
});
