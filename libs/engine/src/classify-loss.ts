import { FAILURE } from '@broadside/shared/engine';
import { CLOSE_CAUSE, type CloseCause } from './transport/transport.js';

const CONNECT_FAILURES: ReadonlyMap<CloseCause, number> = new Map([
  [CLOSE_CAUSE.refused, FAILURE.connectRefused],
  [CLOSE_CAUSE.timeout, FAILURE.connectTimeout],
  [CLOSE_CAUSE.unreachable, FAILURE.connectUnreachable],
  [CLOSE_CAUSE.noLocalPort, FAILURE.noLocalPort],
  [CLOSE_CAUSE.noDescriptor, FAILURE.noDescriptor],
  [CLOSE_CAUSE.tls, FAILURE.tls],
]);

/** The failure class of a request for which no connection could be opened. */
export function connectFailureOf(cause: CloseCause): number {
  return CONNECT_FAILURES.get(cause) ?? FAILURE.connectOther;
}

/** The failure class of a request whose open connection was lost before the reply was complete. */
export function lossOf(cause: CloseCause, hasFirstByte: boolean, isReused: boolean): number {
  if (cause === CLOSE_CAUSE.write) return FAILURE.write;
  if (cause === CLOSE_CAUSE.tls) return FAILURE.tls;
  if (cause === CLOSE_CAUSE.timeout) return FAILURE.timeout;
  if (cause !== CLOSE_CAUSE.ended) {
    return hasFirstByte ? FAILURE.resetAfterFirstByte : FAILURE.resetBeforeFirstByte;
  }
  if (hasFirstByte) return FAILURE.truncated;
  return isReused ? FAILURE.closedWithoutReplyReused : FAILURE.closedWithoutReplyNew;
}
