import { failedIn } from './failure-counts.js';
import type { Report } from './report.schema.js';

/**
 * Ways to count what ab counts.
 * - `once`: each failed request in exactly one category. The default.
 * - `classic`: as ab 2.3. Failed is a sum of events: a reset counts in Receive, Length and Exceptions, a close
 *   without reply in Length only where its emptiness differs from the reference.
 * - `trunk`: as ab 2.5-dev. Lengths that differ are no failures, and a reused connection that was closed without
 *   a reply is none either: it is a keep-alive abort, whose request is sent again.
 */
export const AB_COUNTINGS = ['once', 'classic', 'trunk'] as const;
export type AbCounting = (typeof AB_COUNTINGS)[number];

/** What the report's counters are in ab's words. */
export interface AbCounts {
  /** Requests that were sent and ended, failed ones too, but for those that never had a connection. */
  readonly complete: number;
  /** A status is never a failure to ab. With `once` the sum of the four below. */
  readonly failed: number;
  readonly connect: number;
  readonly receive: number;
  readonly length: number;
  /** Socket errors that are none of the other three: writing and TLS. */
  readonly exceptions: number;
  /** `Keep-Alive requests:` */
  readonly keepAlive: number;
  /** `Keep-Alive aborts:`; 0 where ab has no such line. */
  readonly keepAliveAborts: number;
}

type Counted = Pick<Report, 'counters' | 'plan' | 'latency' | 'referenceBytes'>;

export function abCounts(report: Counted, counting: AbCounting = 'once'): AbCounts {
  switch (counting) {
    case 'once':
      return countedOnce(report);
    case 'classic':
      return countedClassic(report);
    case 'trunk':
      return countedTrunk(report);
  }
}

function connectFailures({ counters: c }: Counted): number {
  return (
    c.connectRefused +
    c.connectTimeout +
    c.connectUnreachable +
    c.noLocalPort +
    c.noDescriptor +
    c.connectOther
  );
}

function countedOnce(report: Counted): AbCounts {
  const c = report.counters;
  const connect = connectFailures(report);
  const receive = c.resetBeforeFirstByte + c.resetAfterFirstByte + c.timeout;
  const empty = c.closedWithoutReplyNew + c.closedWithoutReplyReused + c.pipelineEnded;
  const length = empty + c.truncated + c.malformed + c.tooLarge + c.lengthDiffers;
  const exceptions = c.write + c.tls;
  return {
    complete: c.completed + failedIn(report) - connect,
    failed: connect + receive + length + exceptions,
    connect,
    receive,
    length,
    exceptions,
    keepAlive: c.keepAliveReplies,
    keepAliveAborts: c.closedWithoutReplyReused,
  };
}

function countedClassic(report: Counted): AbCounts {
  const c = report.counters;
  const connect = connectFailures(report);
  const resets = c.resetBeforeFirstByte + c.resetAfterFirstByte;
  const receive = resets + c.timeout;
  // Nothing at all is as long as an empty reference, and ab takes 0 for it where no reply was ever whole.
  const empty =
    report.referenceBytes === 0 || c.completed + c.lengthDiffers === 0
      ? 0
      : c.closedWithoutReplyNew +
        c.closedWithoutReplyReused +
        c.pipelineEnded +
        c.resetBeforeFirstByte +
        c.write +
        c.tls;
  const partial = c.truncated + c.malformed + c.resetAfterFirstByte;
  const length = report.plan.checkLength ? empty + partial + c.lengthDiffers : 0;
  return {
    // A header that is too large ends its request without a trace but for the sum of failures.
    complete: c.completed + failedIn(report) - connect - c.tooLarge,
    failed: connect + receive + length + resets + c.tooLarge,
    connect,
    receive,
    length,
    exceptions: resets,
    keepAlive: c.keepAliveReplies,
    keepAliveAborts: 0,
  };
}

function countedTrunk(report: Counted): AbCounts {
  const c = report.counters;
  const connect = connectFailures(report);
  const receive = c.resetBeforeFirstByte + c.resetAfterFirstByte + c.timeout;
  const unusable = c.closedWithoutReplyNew + c.pipelineEnded + c.truncated + c.malformed + c.tooLarge;
  return {
    complete: c.completed + failedIn(report) - connect - c.closedWithoutReplyReused,
    failed: connect + receive + unusable + c.write + c.tls,
    connect,
    receive,
    // Added there only in a state that is hardly ever met, so that the four are less than their sum.
    length: 0,
    exceptions: 0,
    // Only what was sent on a connection that had been used before.
    keepAlive: report.plan.keepAlive ? report.latency.reused.count : 0,
    keepAliveAborts: c.closedWithoutReplyReused + c.retried,
  };
}
