import { describe, expect, it } from 'vitest';
import { slotCapacityHz } from './slot-capacity.js';

const measured = { cpuUs: 100_000, completed: 20_000, slots: 2, cpus: 4 };

describe('the capacity of a slot', () => {
  it('is what its thread could send if it were never idle', () => {
    expect(slotCapacityHz(measured)).toBe(200_000);
  });

  it('is less where slots share processors, or a quota', () => {
    expect(slotCapacityHz({ ...measured, slots: 8 })).toBe(100_000);
    expect(slotCapacityHz({ ...measured, cpuQuota: 0.5 })).toBe(50_000);
    expect(slotCapacityHz({ ...measured, cpuQuota: 100 })).toBe(200_000);
  });

  it('is not known where too little was measured', () => {
    expect(slotCapacityHz({ ...measured, completed: 499 })).toBeUndefined();
    expect(slotCapacityHz({ ...measured, cpuUs: 0 })).toBeUndefined();
    expect(slotCapacityHz({ ...measured, cpuUs: Number.NaN })).toBeUndefined();
  });
});
