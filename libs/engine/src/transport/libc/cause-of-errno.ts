import { constants } from 'node:os';
import { CLOSE_CAUSE, type CloseCause } from '../transport.js';

const { errno } = constants;

export const { EAGAIN, ECONNRESET, EINPROGRESS, EINTR } = errno;

const CAUSES: ReadonlyMap<number, CloseCause> = new Map([
  [errno.ECONNRESET, CLOSE_CAUSE.reset],
  [errno.ECONNABORTED, CLOSE_CAUSE.reset],
  [errno.ECONNREFUSED, CLOSE_CAUSE.refused],
  [errno.ETIMEDOUT, CLOSE_CAUSE.timeout],
  [errno.EHOSTUNREACH, CLOSE_CAUSE.unreachable],
  [errno.ENETUNREACH, CLOSE_CAUSE.unreachable],
  [errno.ENETDOWN, CLOSE_CAUSE.unreachable],
  // EHOSTDOWN, which Node's table does not name.
  [112, CLOSE_CAUSE.unreachable],
  [errno.EADDRNOTAVAIL, CLOSE_CAUSE.noLocalPort],
  [errno.EADDRINUSE, CLOSE_CAUSE.noLocalPort],
  [errno.EMFILE, CLOSE_CAUSE.noDescriptor],
  [errno.ENFILE, CLOSE_CAUSE.noDescriptor],
  [errno.EPIPE, CLOSE_CAUSE.write],
]);

/** The cause behind an error number; as `causeOfError` says it for Node's errors. @param code positive. */
export function causeOfErrno(code: number): CloseCause {
  return CAUSES.get(code) ?? CLOSE_CAUSE.other;
}
