import { z } from 'zod';
import { parseDurationMs } from '../units.js';

/** Not `int()`: its issues stop all checks of fields against each other. */
export function wholeNumber(most: number, least = 1) {
  return z
    .number('must be a whole number')
    .multipleOf(1, 'must be a whole number')
    .min(least, `must be at least ${least}`)
    .max(most, `must be at most ${most}`);
}

/** A number of ms, or text like `30s`. */
export function durationMs(mostMs: number) {
  const expected = `must be a duration between 1ms and ${mostMs / 1000}s, like 30s`;
  return z.union([z.number(), z.string()], expected).transform((value, context) => {
    const parsed = typeof value === 'number' ? value : parseDurationMs(value);
    if (parsed === undefined || !Number.isInteger(parsed) || parsed < 1 || parsed > mostMs) {
      context.addIssue({ code: 'custom', message: expected });
      return z.NEVER;
    }
    return parsed;
  });
}
