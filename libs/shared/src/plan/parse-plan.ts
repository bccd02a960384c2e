import type { z } from 'zod';
import { asInPlan, messageOf, type NameOfField } from './naming-issue.js';
import { type Plan, planSchema } from './plan.schema.js';
import { unknownFieldMessages } from './strict-fields.js';

/** One thing that is wrong, and where: `connections: must be at least 1`. */
export interface Problem {
  /** Dotted path into the value; empty for the value as a whole. */
  readonly path: string;
  readonly message: string;
}

export type ParsedPlan =
  | { readonly ok: true; readonly plan: Plan }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/**
 * Checks a plain value against the plan schema and reports all problems at once.
 * @param nameOf what whoever gave the value calls its fields; problems use these names, as paths too.
 */
export function parsePlan(value: unknown, nameOf: NameOfField = asInPlan): ParsedPlan {
  const result = planSchema.safeParse(value);
  if (result.success) return { ok: true, plan: Object.freeze(result.data) };
  return { ok: false, problems: problemsOf(result.error, nameOf) };
}

/** The issues of a schema error as problems with dotted paths; unknown keys are named one by one. */
export function problemsOf(error: z.ZodError, nameOf: NameOfField = asInPlan): Problem[] {
  return error.issues.flatMap((issue): Problem[] => {
    const path = issue.path.map(String).join('.');
    if (issue.code === 'unrecognized_keys') {
      const messages = unknownFieldMessages(issue);
      return issue.keys.map((key, i) => ({
        path: path === '' ? key : `${path}.${key}`,
        message: messages[i] ?? '',
      }));
    }
    return [{ path: nameOf(path), message: messageOf(issue, nameOf) }];
  });
}

export function formatProblem(problem: Problem): string {
  return problem.path === '' ? problem.message : `${problem.path}: ${problem.message}`;
}
