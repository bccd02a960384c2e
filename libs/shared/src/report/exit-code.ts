import type { Report } from './report.schema.js';

/** Exit codes of every command except `broadside ab`, which has ab's. The only table of them. */
export const EXIT = {
  ok: 0,
  /** The run ended and its verdict is `fail`. */
  verdictFail: 1,
  /** `doctor`: the load could not be carried by this machine. */
  cannotWork: 1,
  /** Flags, plan or file are not valid; nothing was started. */
  usage: 2,
  /** The books do not balance, or something is missing. */
  inconclusive: 3,
  /** The run could not be carried out: no connection to the target, name not found. */
  runFailed: 4,
  /** The coordinator, its queue or its store cannot be reached, or refused. */
  cluster: 5,
  /** A file could not be read or written. */
  file: 6,
  /** A defect of ours. */
  internal: 70,
  /** Ended by SIGINT or by somebody's stop: the report says what was done. */
  interrupted: 130,
  /** Ended by SIGTERM. */
  terminated: 143,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Exit code of a run from its report. */
export function exitCodeOf(report: Report): ExitCode {
  if (report.run.state === 'failed') return EXIT.runFailed;
  switch (report.verdict.outcome) {
    case 'pass':
      return EXIT.ok;
    case 'fail':
      return EXIT.verdictFail;
    case 'aborted':
      return EXIT.interrupted;
    case 'inconclusive':
      return EXIT.inconclusive;
  }
}
