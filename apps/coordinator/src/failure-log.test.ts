import { describe, expect, it } from 'vitest';
import { FailureLog } from './failure-log.js';

function trial() {
  const lines: string[] = [];
  let nowMs = 0;
  const write = (_fields: object, text: string): void => void lines.push(text);
  const log = { warn: write, error: write } as unknown as ConstructorParameters<typeof FailureLog>[0];
  return {
    lines,
    failures: new FailureLog(log, () => nowMs),
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
}

describe('a failure', () => {
  it('that comes ten times a second is told once in half a minute, with how often it came', () => {
    const { lines, failures, pass } = trial();
    for (let i = 0; i < 601; i++) {
      failures.error(new Error('no such file'), `the store did not take ${i} intervals`);
      pass(100);
    }
    expect(lines).toEqual([
      'the store did not take 0 intervals',
      'the store did not take 300 intervals (and 299 times more before)',
      'the store did not take 600 intervals (and 299 times more before)',
    ]);
  });

  it('of another kind is told at once', () => {
    const { lines, failures } = trial();
    failures.warn(new Error('no such file'), 'the store');
    failures.warn(new Error('no space left'), 'the store');
    failures.warn(new Error('no space left'), 'the audit log');
    expect(lines).toEqual(['the store', 'the store', 'the audit log']);
  });

  it('of any number of kinds takes a bounded memory, and forgets what is longest ago', () => {
    const { lines, failures } = trial();
    const kindOf = (i: number): string => 'x'.repeat(i + 1);
    for (let i = 0; i <= 100; i++) failures.error(new Error('failed'), kindOf(i));
    lines.length = 0;
    failures.error(new Error('failed'), kindOf(100));
    failures.error(new Error('failed'), kindOf(0));
    expect(lines).toEqual([kindOf(0)]);
  });
});
