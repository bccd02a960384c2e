import type { Verdict } from './report.schema.js';

/** Which side was the limit, why, and what to do about it. */
export interface Limit {
  readonly limit: Verdict['limit'];
  readonly reasons: readonly string[];
  readonly advice: readonly string[];
}

export function undecided(reason: string): Limit {
  return { limit: 'undecided', reasons: [reason], advice: [] };
}
