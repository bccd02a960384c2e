/**
 * Where `--ab-counting classic` gives other figures than ab 2.3 would, and why. Each is deliberate: ab's figure would
 * be wrong, or ab gives none because it hangs. docs/MEASUREMENT.md lists them, and a test holds both programs against
 * each other (test/e2e/ab-classic.test.ts).
 */
import { failedIn } from './failure-counts.js';
import type { Report } from './report.schema.js';

export const AB_DIFFERENCES = [
  'refused',
  'timedOut',
  'notHttp',
  'tooLarge',
  'cutOff',
  'emptyFirst',
  'surplus',
  'leftOpen',
  'keptSilently',
  'interim',
  'chunked',
  'exceptions',
] as const;
export type AbDifference = (typeof AB_DIFFERENCES)[number];

/** One line each. */
export const AB_DIFFERENCE_TEXTS: Readonly<Record<AbDifference, string>> = {
  refused: 'with -r ab counts a refused connection as a complete request; here nothing was sent on it',
  timedOut:
    'ab gives up without a report when nothing comes for -s seconds; here each request times out by itself',
  notHttp: 'ab takes anything for a reply and waits for its end; what is not HTTP fails here at once',
  tooLarge:
    'ab waits for the end of a header that is too long for it; here the limits of the plan end the reply',
  cutOff: 'no reply was whole: ab takes the first cut one for the document; here each of them fails',
  emptyFirst:
    'ab takes an empty first reply for the document, so that all others differ from it; not so here',
  surplus: 'ab takes bytes behind a reply for a part of it; here they are none, and end the connection',
  leftOpen: 'without -k ab waits until the target closes; here the announced end of the reply counts',
  keptSilently:
    'with -k ab needs the words keep-alive in a reply, or waits for a close; here HTTP/1.1 is enough',
  interim: 'ab takes an interim reply (1xx) for the final one; here it is skipped',
  chunked: 'ab counts the framing of chunks as body and may miss the end; here they are decoded',
  exceptions: 'ab counts a close once more (Exceptions) where it sees the reset behind it in time',
};

type Counted = Pick<Report, 'counters' | 'plan' | 'target' | 'referenceBytes'>;

/** The differences that may show in this report, in their order. */
export function abDifferencesOf(report: Counted): AbDifference[] {
  return AB_DIFFERENCES.filter((name) => SHOWS[name](report));
}

const SHOWS: Readonly<Record<AbDifference, (report: Counted) => boolean>> = {
  refused: ({ counters, plan }) => counters.connectRefused > 0 && plan.onSocketError === 'continue',
  timedOut: ({ counters }) => counters.timeout > 0,
  notHttp: ({ counters }) => counters.malformed > 0,
  tooLarge: ({ counters }) => counters.tooLarge > 0,
  cutOff: ({ counters }) => counters.truncated > 0 && counters.completed + counters.lengthDiffers === 0,
  emptyFirst: (report) => {
    const { counters, plan, referenceBytes } = report;
    return plan.checkLength && referenceBytes === undefined && counters.completed > 0 && failedIn(report) > 0;
  },
  surplus: ({ counters }) => counters.repliesWithSurplus > 0,
  leftOpen: ({ counters, plan }) => !plan.keepAlive && counters.connectionsLeftToUs > 0,
  keptSilently: ({ counters, plan, target }) =>
    plan.keepAlive && counters.keepAliveReplies > 0 && !/keep-alive/i.test(target.firstReply ?? 'keep-alive'),
  interim: ({ target }) => /^HTTP\/1\.. 1/.test(target.firstReply ?? ''),
  chunked: ({ target }) => /^transfer-encoding:.*chunked/im.test(target.firstReply ?? ''),
  exceptions: ({ counters }) =>
    counters.closedWithoutReplyReused + counters.resetBeforeFirstByte + counters.resetAfterFirstByte > 0,
};
