/**
 * Problems that name more fields than the one they are put down to. Whoever typed `--no-keep-alive` knows of no
 * `keepAlive`, so such a problem can be told again with the names of the flags.
 */
import type { z } from 'zod';

/** What a person calls a field, by its path in the plan: the flag that gave it, or the path. */
export type NameOfField = (path: string) => string;

/** The sentence of a problem in somebody's words. */
export type Tell = (nameOf: NameOfField) => string;

/** The words of a plan file. */
export const asInPlan: NameOfField = (path) => path;

/** @param path the field that the problem is put down to. */
export function namingIssue(path: string, tell: Tell) {
  return { code: 'custom' as const, path: [path], message: tell(asInPlan), params: { tell } };
}

/** The message of an issue in somebody's words. */
export function messageOf(issue: z.core.$ZodIssue, nameOf: NameOfField): string {
  // Nobody but namingIssue sets it.
  const tell = issue.code === 'custom' ? (issue.params?.['tell'] as Tell | undefined) : undefined;
  return tell === undefined ? issue.message : tell(nameOf);
}
