import { FAILURE } from '@broadside/shared/engine';
import { lossOf } from '../classify-loss.js';
import { CLOSE_CAUSE, type CloseCause } from '../transport/transport.js';

/** What becomes of the requests on a connection that ends, and which of them may be sent once more. */
export interface Ending {
  /** Class of the one whose reply comes next, and of those behind it. */
  readonly first: number;
  readonly others: number;
  readonly retriesFirst: boolean;
  readonly retriesOthers: boolean;
  readonly errno: number;
}

/** Every request on it fails in the same way: it could not be opened. */
export function connectEnding(failure: number, errno: number): Ending {
  return { first: failure, others: failure, retriesFirst: false, retriesOthers: false, errno };
}

/** We close it because of its first request: what is behind that one may be carried out still, so no retry. */
export function closedByUsEnding(first: number, errno: number): Ending {
  return { first, others: FAILURE.pipelineEnded, retriesFirst: false, retriesOthers: false, errno };
}

/** The target has said that it answers no more on this connection (RFC 9112 section 9.6). */
export function announcedEnding(retries: boolean): Ending {
  const { pipelineEnded } = FAILURE;
  return {
    first: pipelineEnded,
    others: pipelineEnded,
    retriesFirst: retries,
    retriesOthers: retries,
    errno: 0,
  };
}

export interface Loss {
  readonly cause: CloseCause;
  readonly errno: number;
  /** Whether a part of the next reply had come. */
  readonly hasFirstByte: boolean;
  /** Whether the connection had carried a complete reply. */
  readonly isReused: boolean;
  /** Whether the plan wants requests without any reply to be sent again. */
  readonly retries: boolean;
}

/** The target closed or reset it without a word. Only the first request can have a part of its reply. */
export function lossEnding({ cause, errno, hasFirstByte, isReused, retries }: Loss): Ending {
  const isClose = cause === CLOSE_CAUSE.ended || cause === CLOSE_CAUSE.reset;
  const mayRetry = retries && isReused && isClose;
  return {
    first: lossOf(cause, hasFirstByte, isReused),
    others: lossOf(cause, false, isReused || hasFirstByte),
    retriesFirst: mayRetry && !hasFirstByte,
    retriesOthers: mayRetry,
    errno,
  };
}
