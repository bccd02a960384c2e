import type { Verdict } from './report.schema.js';

/** Why the headline number cannot be taken as it is; undefined when it can. */
export function headlineWarningOf({
  outcome,
  limit,
}: Pick<Verdict, 'outcome' | 'limit'>): string | undefined {
  if (outcome === 'inconclusive') return 'the books do not balance: do not rely on these numbers';
  if (limit === 'generator') {
    return 'the generator was the limit: the target may be faster than this number';
  }
  return undefined;
}
