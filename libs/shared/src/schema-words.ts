/** What is wrong with a value, in words for people instead of zod's own; what a schema says itself goes before. */
import { z } from 'zod';

const KINDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

/** @returns undefined where zod's own words have to do. */
function schemaWords(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is missing';
      return `must be ${KINDS[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be ${oneOf(issue.values.map(String))}`;
    case 'too_small':
      return bound(issue.origin, issue.minimum, issue.inclusive === false ? 'above' : 'at least');
    case 'too_big':
      return bound(issue.origin, issue.maximum, issue.inclusive === false ? 'below' : 'at most');
    case 'custom':
    case 'invalid_element':
    case 'invalid_format':
    case 'invalid_key':
    case 'invalid_union':
    case 'not_multiple_of':
    case 'unrecognized_keys':
      return undefined;
  }
}

function oneOf(values: readonly string[]): string {
  return values.length < 2
    ? (values[0] ?? 'nothing')
    : `${values.slice(0, -1).join(', ')} or ${values.at(-1) ?? ''}`;
}

function bound(origin: string, limit: number | bigint, words: string): string {
  const ofSize = { string: 'characters', array: 'entries', set: 'entries', map: 'entries' }[origin];
  if (ofSize === undefined) return `must be ${words} ${limit}`;
  if (words === 'at least' && Number(limit) === 1) return 'must not be empty';
  return `must have ${words} ${limit} ${ofSize}`;
}

z.config({ customError: schemaWords });
