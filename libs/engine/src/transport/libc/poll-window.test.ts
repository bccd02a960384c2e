import { expect, it } from 'vitest';
import { PollWindow } from './poll-window.js';

function after(...waitsUs: number[]): number {
  const window = new PollWindow();
  for (const waitUs of waitsUs) window.note(waitUs);
  return window.lengthUs;
}

const times = (count: number, waitUs: number): number[] => Array.from({ length: count }, () => waitUs);

it('looks for events as long as waits are short', () => {
  expect(after()).toBeGreaterThan(0);
  expect(after(...times(100, 40))).toBeGreaterThan(0);
});

it('sleeps at once where waits are long, and after few of them', () => {
  expect(after(...times(2, 4_000))).toBe(0);
  expect(after(...times(100, 80))).toBe(0);
});

it('looks again once waits have become short, however long one was before', () => {
  expect(after(...times(20, 4_000_000), ...times(20, 20))).toBeGreaterThan(0);
});

it('does not give up for one long wait among short ones', () => {
  expect(after(...times(50, 10), 1_000_000, ...times(2, 10))).toBeGreaterThan(0);
});
