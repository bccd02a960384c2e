import { FAILURE_CLASSES, type FailureClass } from '../metrics/failure-class.js';
import { formatCount } from '../units.js';
import type { Report } from './report.schema.js';

type Counted = Pick<Report, 'counters'>;

/** Failure classes as a person reads them: `7 truncated`, `30 timed out`. */
export const FAILURE_PHRASES: Readonly<Record<FailureClass, string>> = {
  connectRefused: 'connection refused',
  connectTimeout: 'connecting timed out',
  connectUnreachable: 'unreachable',
  noLocalPort: 'no local port left',
  noDescriptor: 'no file descriptor left',
  connectOther: 'could not connect',
  tls: 'TLS failed',
  write: 'could not be written',
  resetBeforeFirstByte: 'reset before the reply',
  resetAfterFirstByte: 'reset within the reply',
  closedWithoutReplyNew: 'new connection closed without reply',
  closedWithoutReplyReused: 'reused connection closed without reply',
  pipelineEnded: 'behind a reply that its connection ended with',
  truncated: 'truncated',
  malformed: 'not HTTP',
  tooLarge: 'too large',
  timeout: 'timed out',
  lengthDiffers: 'length differs',
  status: 'status not 2xx',
};

export interface FailureCount {
  readonly failureClass: FailureClass;
  readonly count: number;
}

/** The classes that occurred, most frequent first. */
export function failureCounts({ counters }: Counted): FailureCount[] {
  return FAILURE_CLASSES.map((failureClass) => ({ failureClass, count: counters[failureClass] }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count);
}

/** Requests that failed, in whatever class. */
export function failedIn({ counters }: Counted): number {
  return FAILURE_CLASSES.reduce((sum, name) => sum + counters[name], 0);
}

/** Requests that had an outcome. */
export function endedIn(report: Counted): number {
  return report.counters.completed + failedIn(report);
}

/** From this share of failures on, numbers of the rest say little about the target. */
const MANY_FAILED = 0.1;

/** Whether more requests failed than succeeded. */
export function isMostlyFailed(report: Counted): boolean {
  return failedIn(report) > report.counters.completed;
}

/** What the headline number says of failures: `187 of 200 requests failed`; undefined when they were few. */
export function failureWarning(report: Counted): string | undefined {
  const failed = failedIn(report);
  const ended = endedIn(report);
  if (failed === 0 || failed < MANY_FAILED * ended) return undefined;
  const [most] = failureCounts(report);
  const kind = most === undefined ? '' : ` (${FAILURE_PHRASES[most.failureClass]})`;
  const share = `${formatCount(failed)} of ${formatCount(ended)} requests`;
  return `${share} failed${kind}: this number is not what the target can serve`;
}

/** `37 of 1,000 requests failed: 30 timed out, 7 truncated`; undefined when none failed. */
export function failureSentence(report: Counted): string | undefined {
  const failed = failedIn(report);
  if (failed === 0) return undefined;
  const parts = failureCounts(report).map(
    (f) => `${formatCount(f.count)} ${FAILURE_PHRASES[f.failureClass]}`,
  );
  return `${formatCount(failed)} of ${formatCount(endedIn(report))} requests failed: ${parts.join(', ')}`;
}
