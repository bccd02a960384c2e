import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SelfReader } from './self-readings.js';

/** Keeps this thread busy; the numbers of the clock are the work. */
function burn(durationMs: number): number {
  const end = performance.now() + durationMs;
  let sum = 0;
  while (performance.now() < end) sum++;
  return sum;
}

/** Leaves garbage behind until V8 has had to collect it. */
function litter(): number {
  let kept: object[] = [];
  for (let i = 0; i < 2_000_000; i++) {
    kept.push({ i });
    if (kept.length > 1_000) kept = [];
  }
  return kept.length;
}

describe('SelfReader', () => {
  it('sees the CPU time that the thread has used, and nothing from before', () => {
    burn(200);
    const reader = new SelfReader();
    reader.read();
    burn(100);
    const { cpuUs } = reader.read();
    expect(cpuUs).toBeGreaterThan(5_000);
    expect(cpuUs).toBeLessThan(400_000);
    reader.end();
  });

  it('sees garbage collections without the event loop having a turn', () => {
    const reader = new SelfReader();
    reader.read();
    litter();
    expect(reader.read().gcPauseUs).toBeGreaterThan(0);
    expect(reader.read().gcPauseUs).toBeLessThan(50_000);
    reader.end();
    reader.end();
  });

  it('says what this kernel says, and that it does not know the rest', () => {
    const reader = new SelfReader();
    const first = reader.read();
    expect([first.runDelayUs, first.stealShare, first.involuntarySwitches]).toEqual([-1, -1, -1]);
    const second = reader.read();
    reader.end();
    const isLinux = process.platform === 'linux';
    const hasSchedstat = isLinux && readFileSync('/proc/thread-self/schedstat', 'latin1').length > 6;
    expect(second.runDelayUs >= 0).toBe(hasSchedstat);
    expect(second.involuntarySwitches >= 0).toBe(isLinux);
    expect(second.stealShare >= 0 && second.stealShare <= 1).toBe(isLinux);
    expect(second.descriptors === -1 || second.descriptors >= 3).toBe(true);
  });
});
