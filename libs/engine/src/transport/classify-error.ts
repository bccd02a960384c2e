import { CLOSE_CAUSE, type CloseCause } from './transport.js';

const CAUSE_OF_CODE: ReadonlyMap<string, CloseCause> = new Map([
  ['ECONNRESET', CLOSE_CAUSE.reset],
  ['ECONNABORTED', CLOSE_CAUSE.reset],
  ['ECONNREFUSED', CLOSE_CAUSE.refused],
  ['ETIMEDOUT', CLOSE_CAUSE.timeout],
  ['EHOSTUNREACH', CLOSE_CAUSE.unreachable],
  ['ENETUNREACH', CLOSE_CAUSE.unreachable],
  ['EHOSTDOWN', CLOSE_CAUSE.unreachable],
  ['ENETDOWN', CLOSE_CAUSE.unreachable],
  // bind and connect say the first; Linux says the second when the table of ports is full.
  ['EADDRNOTAVAIL', CLOSE_CAUSE.noLocalPort],
  ['EADDRINUSE', CLOSE_CAUSE.noLocalPort],
  ['EMFILE', CLOSE_CAUSE.noDescriptor],
  ['ENFILE', CLOSE_CAUSE.noDescriptor],
  ['EPIPE', CLOSE_CAUSE.write],
]);

/** The cause behind a system error of a socket; what is not known is `other`, never dropped. */
export function causeOfError(error: NodeJS.ErrnoException): CloseCause {
  return CAUSE_OF_CODE.get(error.code ?? '') ?? CLOSE_CAUSE.other;
}

/** Positive errno of a system error, 0 when it has none. */
export function errnoOf(error: NodeJS.ErrnoException): number {
  return Math.abs(error.errno ?? 0);
}

/** Errors that only the path of a unix socket can have; the class says nothing of them. */
const REASON_OF_PATH_CODE: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'there is no such unix socket'],
  ['EACCES', 'this user may not use the unix socket'],
  ['ENOTSOCK', 'the path is not a unix socket'],
  ['ENOTDIR', 'a part of the path is no folder'],
  ['EPROTOTYPE', 'the unix socket is not of the stream type'],
]);

/** What is wrong with the path of a unix socket, in words; empty for all other errors. */
export function pathReasonOf(error: NodeJS.ErrnoException): string {
  return REASON_OF_PATH_CODE.get(error.code ?? '') ?? '';
}
