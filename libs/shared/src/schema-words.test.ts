import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import './schema-words.js';

function wordsOf(schema: z.ZodType, value: unknown): string | undefined {
  return schema.safeParse(value).error?.issues[0]?.message;
}

describe('what is wrong with a value', () => {
  it.each<[z.ZodType, unknown, string]>([
    [z.enum(['viewer', 'operator', 'admin']), 'king', 'must be viewer, operator or admin'],
    [z.literal('x'), 'y', 'must be x'],
    [z.string(), 5, 'must be text'],
    [z.string(), undefined, 'is missing'],
    [z.number(), 'abc', 'must be a number'],
    [z.int(), 1.5, 'must be a whole number'],
    [z.boolean(), 1, 'must be true or false'],
    [z.array(z.string()), 'a', 'must be a list'],
    [z.object({}), [], 'must be an object'],
    [z.string().min(1), '', 'must not be empty'],
    [z.string().max(2), 'abc', 'must have at most 2 characters'],
    [z.number().gt(0), 0, 'must be above 0'],
    [z.number().max(9), 10, 'must be at most 9'],
    [z.array(z.string()).max(1), ['a', 'b'], 'must have at most 1 entries'],
  ])('is told in words (%#)', (schema, value, words) => {
    expect(wordsOf(schema, value)).toBe(words);
  });

  it('is what the schema itself says of it', () => {
    expect(wordsOf(z.string('a name is wanted'), 5)).toBe('a name is wanted');
    expect(wordsOf(z.number().min(3, 'three at least'), 1)).toBe('three at least');
  });
});
