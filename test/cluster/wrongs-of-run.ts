// What must not be, whatever went wrong during a run.

import type { Report } from '@broadside/shared';
import type { Played } from './fault-stage.js';

/** One sentence each; empty when all is well. */
export function wrongsOfRun({ detail, seen }: Played, plan: Readonly<Record<string, unknown>>): string[] {
  if (detail === undefined) return ['the run hangs'];
  const { report } = detail;
  if (report === undefined) return [`there is no report: ${detail.state}, ${detail.reason ?? 'no reason'}`];
  const { counters, losses = [], verdict } = report;
  const wrongs: string[] = [];
  if (report.ledger.problems.length > 0 && verdict.outcome !== 'inconclusive') {
    wrongs.push(`the books do not balance and the verdict is ${verdict.outcome}: ${problemsOf(report)}`);
  }
  // A reply comes once, so what is counted twice would be more than the target has seen.
  if (counters.completed > seen) wrongs.push(`${counters.completed} completed, the target saw ${seen}`);
  if (report.ledger.problems.length > 0) return wrongs;
  const inSeconds = report.seconds.reduce((sum, second) => sum + second.completed, 0);
  if (inSeconds !== counters.completed) {
    wrongs.push(`the seconds have ${inSeconds} completed, the run ${counters.completed}`);
  }
  const isCounted = plan['requests'] !== undefined && plan['duration'] === undefined;
  if (isCounted && detail.state === 'finished' && counters.planned !== plan['requests']) {
    wrongs.push(`${counters.planned} planned of ${String(plan['requests'])}`);
  }
  const isWhole = losses.every((loss) => loss.rest !== 'dropped');
  if (isCounted && verdict.outcome === 'pass' && isWhole && counters.sent !== plan['requests']) {
    wrongs.push(`passed with ${counters.sent} sent of ${String(plan['requests'])}`);
  }
  // The probe is in no number of the run, and is sent again where its slot was lost.
  const probes = plan['probe'] === true ? 3 : 0;
  const beyond = seen - counters.sent - losses.reduce((sum, loss) => sum + (loss.unaccounted ?? 0), 0);
  if (losses.every((loss) => loss.unaccounted !== undefined) && beyond > probes) {
    wrongs.push(`the target saw ${seen}, of which ${beyond} are in no number`);
  }
  return wrongs;
}

/** The lines of a ledger that does not balance. */
export function problemsOf(report: Report): string {
  return report.ledger.problems.map((problem) => JSON.stringify(problem)).join('; ');
}
