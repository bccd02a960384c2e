import { describe, expect, it } from 'vitest';
import { RefusalLog } from './refusal-log.js';

function trial() {
  const lines: string[] = [];
  const clock = { nowMs: 0 };
  const write = (text: string): void => void lines.push(text);
  const log = { warn: write } as unknown as ConstructorParameters<typeof RefusalLog>[0];
  return { lines, clock, refusals: new RefusalLog(log, () => clock.nowMs) };
}

describe('a refusal', () => {
  it('that comes twice a second is told once a minute, with how often it came', () => {
    const { lines, clock, refusals } = trial();
    for (let i = 0; i <= 240; i++) {
      refusals.warn('refused an agent from 192.0.2.1: too many');
      clock.nowMs += 500;
    }
    expect(lines).toEqual([
      'refused an agent from 192.0.2.1: too many',
      'refused an agent from 192.0.2.1: too many (and 119 times more before)',
      'refused an agent from 192.0.2.1: too many (and 119 times more before)',
    ]);
  });

  it('of another address, or for another reason, is told at once', () => {
    const { lines, refusals } = trial();
    const told = ['from 192.0.2.1: wrong', 'from 192.0.2.2: wrong', 'from 192.0.2.1: too many'];
    for (const line of [...told, ...told]) refusals.warn(line);
    expect(lines).toEqual(told);
  });

  it('from any number of addresses takes bounded lines and memory', () => {
    const { lines, clock, refusals } = trial();
    for (let i = 0; i < 1_000; i++) refusals.warn(`from address ${i}`);
    expect(lines).toHaveLength(101);
    clock.nowMs = 60_000;
    for (let i = 1_000; i < 2_000; i++) refusals.warn(`from address ${i}`);
    expect(lines.length).toBe(202);
    expect(lines.filter((line) => line.includes('others'))).toEqual([
      expect.stringMatching(/\(and 899 others before\)$/),
    ]);
  });
});
