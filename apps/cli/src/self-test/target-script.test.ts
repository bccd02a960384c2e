import { describe, expect, it } from 'vitest';
import { scenariosOf } from './scenarios.js';
import { faultCounts, faultOf, type TargetScript, targetScriptSchema } from './target-script.js';

const SCRIPT: Pick<TargetScript, 'faults'> = {
  faults: [
    { fault: 'reset', every: 10, at: 3 },
    { fault: 'status', every: 5, at: 3 },
  ],
};

describe('faults of a script', () => {
  it('meet the requests of their numbers, the first that fits', () => {
    expect([3, 8, 13, 18, 4].map((n) => faultOf(SCRIPT, n))).toEqual([
      'reset',
      'status',
      'reset',
      'status',
      undefined,
    ]);
  });

  it('are counted for as many requests as there are', () => {
    expect(faultCounts(SCRIPT, 14)).toMatchObject({ reset: 2, status: 1, close: 0 });
  });
});

describe('scenarios', () => {
  it.each([true, false])('have scripts that the target accepts (short: %s)', (isShort) => {
    for (const { script } of scenariosOf(isShort)) expect(targetScriptSchema.parse(script)).toEqual(script);
  });

  it.each([true, false])('let every kind of fault happen (short: %s)', (isShort) => {
    const scenario = scenariosOf(isShort).find(({ name }) => name === 'failures');
    const { script = SCRIPT, plan } = scenario ?? {};
    for (const count of Object.values(faultCounts(script, plan?.requests ?? 0))) {
      expect(count).toBeGreaterThan(0);
    }
  });
});
