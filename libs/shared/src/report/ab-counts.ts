import { failedIn } from './failure-counts.js';
import type { Report } from './report.schema.js';

/** How the report's counters map to ab's. Each failed request is in exactly one of the four, unlike in ab. */
export interface AbCounts {
  /** Requests that were sent and ended, failed ones too, but for those that never had a connection. */
  readonly complete: number;
  /** Sum of the four below. A status is never a failure to ab. */
  readonly failed: number;
  readonly connect: number;
  readonly receive: number;
  readonly length: number;
  /** Socket errors that are none of the other three: writing and TLS. */
  readonly exceptions: number;
}

export function abCounts(report: Pick<Report, 'counters'>): AbCounts {
  const c = report.counters;
  const connect =
    c.connectRefused +
    c.connectTimeout +
    c.connectUnreachable +
    c.noLocalPort +
    c.noDescriptor +
    c.connectOther;
  const receive = c.resetBeforeFirstByte + c.resetAfterFirstByte + c.timeout;
  const length =
    c.closedWithoutReplyNew +
    c.closedWithoutReplyReused +
    c.pipelineEnded +
    c.truncated +
    c.malformed +
    c.tooLarge +
    c.lengthDiffers;
  const exceptions = c.write + c.tls;
  const complete = c.completed + failedIn(report) - connect;
  return { complete, failed: connect + receive + length + exceptions, connect, receive, length, exceptions };
}
