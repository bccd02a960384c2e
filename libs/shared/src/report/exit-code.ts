import type { FailureClass } from '../metrics/failure-class.js';
import { failedIn } from './failure-counts.js';
import type { Report } from './report.schema.js';

/** Exit codes of every command except `broadside ab`, which has ab's. The only table of them. */
export const EXIT = {
  ok: 0,
  /** The run ended and its verdict is `fail`: nothing succeeded, an error ended it, or its rate was not reached. */
  verdictFail: 1,
  /** `doctor`: the load could not be carried by this machine. */
  cannotWork: 1,
  /** Flags, plan or file are not valid; nothing was started. */
  usage: 2,
  /** The books do not balance, something is missing, or a lost agent leaves the result open. */
  inconclusive: 3,
  /** The run could not be carried out: no connection to the target whatever the count, name not found. */
  runFailed: 4,
  /**
   * The coordinator, its queue or its store cannot be reached, refused, or stopped the run; or an address cannot be
   * listened on.
   */
  cluster: 5,
  /** A file could not be read or written. */
  file: 6,
  /** A defect of ours. */
  internal: 70,
  /** Ended by SIGINT: the report says what was done. */
  interrupted: 130,
  /** Ended by SIGTERM. */
  terminated: 143,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Failures that leave a request without a connection. */
const CONNECT_FAILURES: readonly FailureClass[] = [
  'connectRefused',
  'connectTimeout',
  'connectUnreachable',
  'noLocalPort',
  'noDescriptor',
  'connectOther',
];

/** True when requests were sent out, none completed, and each of them failed for want of a connection. */
function neverConnected(report: Report): boolean {
  const failed = failedIn(report);
  const toConnect = CONNECT_FAILURES.reduce((sum, name) => sum + report.counters[name], 0);
  return report.counters.completed === 0 && failed > 0 && toConnect === failed;
}

/**
 * Exit code of a run from its report. One that was stopped was so by somebody else, or with its coordinator: whoever
 * interrupts a command gets the code of the signal instead.
 */
export function exitCodeOf(report: Report): ExitCode {
  if (report.run.state === 'failed') return EXIT.runFailed;
  switch (report.verdict.outcome) {
    case 'pass':
      return EXIT.ok;
    case 'fail':
      return neverConnected(report) ? EXIT.runFailed : EXIT.verdictFail;
    case 'aborted':
      return EXIT.cluster;
    case 'inconclusive':
      return EXIT.inconclusive;
  }
}
