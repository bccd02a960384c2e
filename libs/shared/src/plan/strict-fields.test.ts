import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { problemsOf } from './parse-plan.js';
import { strictFields } from './strict-fields.js';

const schema = strictFields(
  { rate: z.number().optional(), tls: strictFields({ verify: z.boolean().optional() }, 'a map').optional() },
  'must be a map',
);

function problems(value: unknown) {
  return problemsOf(schema.safeParse(value).error ?? new z.ZodError([]));
}

describe('a mistyped field', () => {
  it('is told with the nearest one that exists, wherever it stands', () => {
    const found = problems({ raet: 1, tls: { verfy: true }, 'two\nlines': 1, xyz: 1 });
    expect(found.map(({ path, message }) => `${path}: ${message}`).toSorted()).toEqual([
      'raet: unknown field, did you mean rate?',
      'tls.verfy: unknown field, did you mean verify?',
      'two\nlines: unknown field',
      'xyz: unknown field',
    ]);
  });

  it('is not what no map at all is', () => {
    expect(problems(5)).toEqual([{ path: '', message: 'must be a map' }]);
  });
});
