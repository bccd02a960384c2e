import type { Report, Verdict } from './report.schema.js';

/** Why the headline number cannot be taken as it is; undefined when it can. */
export function headlineWarningOf(
  { outcome, limit, reasons: [reason] }: Pick<Verdict, 'outcome' | 'limit' | 'reasons'>,
  { balanced }: Pick<Report['ledger'], 'balanced'>,
): string | undefined {
  if (!balanced) return 'the books do not balance: do not rely on these numbers';
  // Whatever makes a run inconclusive is its first reason.
  if (outcome === 'inconclusive') return `the result is open: ${reason ?? 'no reason given'}`;
  if (limit === 'generator') {
    return 'the generator was the limit: the target may be faster than this number';
  }
  return undefined;
}
