import { z } from 'zod';
import { nearestOf } from '../nearest.js';

/** What a schema says of a field that it does not know; with the one that was probably meant. */
const UNKNOWN_FIELD = 'unknown field';

/**
 * An object without other fields than these. Mistyped names are told with the nearest one that exists: in the issue
 * of the schema, so that the hint is the same wherever the value came from.
 * @param kindProblem said of what is no object at all.
 */
export function strictFields<Shape extends z.core.$ZodLooseShape>(shape: Shape, kindProblem: string) {
  const names = Object.keys(shape);
  return z.strictObject(shape, {
    error: (issue) => {
      // One line for each key, in their order: an issue has one message for all of them.
      if (issue.code === 'unrecognized_keys')
        return issue.keys.map((key) => unknownField(key, names)).join('\n');
      return issue.code === 'invalid_type' ? kindProblem : undefined;
    },
  });
}

/** The message for each key of such an issue. */
export function unknownFieldMessages(issue: z.core.$ZodIssueUnrecognizedKeys): string[] {
  const lines = issue.message.split('\n');
  return issue.keys.map((_, i) => {
    const line = lines[i] ?? '';
    return line.startsWith(UNKNOWN_FIELD) ? line : UNKNOWN_FIELD;
  });
}

function unknownField(key: string, names: readonly string[]): string {
  const near = nearestOf(key, names);
  return near === undefined ? UNKNOWN_FIELD : `${UNKNOWN_FIELD}, did you mean ${near}?`;
}
