import { describe, expect, it } from 'vitest';
import { BestWindow } from './best-window.js';

function after(...capacities: readonly (number | undefined)[]): BestWindow {
  const best = new BestWindow();
  for (const capacityHz of capacities) best.add(capacityHz);
  return best;
}

describe('the best of several windows', () => {
  it('is the highest, however many were disturbed', () => {
    expect(after(50, 90, 101, 60, 40).bestHz).toBe(101);
    expect(after(100, 101).bestHz).toBe(101);
    expect(after(undefined, 70, undefined).bestHz).toBe(70);
    expect(after().bestHz).toBeUndefined();
  });

  it('is settled when three in a row brought nothing better, after five', () => {
    expect(after(100, 99, 98, 97).isSettled).toBe(false);
    expect(after(100, 99, 98, 97, 96).isSettled).toBe(true);
    expect(after(50, 60, 70, 80, 90).isSettled).toBe(false);
    expect(after(50, 60, 70, 80, 90, 90, 91, 90).isSettled).toBe(true);
    expect(after(50, 60, 70, 80, 90, 90, 91, 95).isSettled).toBe(false);
  });

  it('goes on while it creeps upwards, and while nothing was told', () => {
    expect(after(100, 101, 102, 103, 104, 105).isSettled).toBe(false);
    expect(after(...Array.from({ length: 20 }, () => undefined)).isSettled).toBe(false);
  });
});
