import type { FailureClass } from '../metrics/failure-class.js';
import type { Fatal } from '../metrics/fatal.js';
import { abCounts } from './ab-counts.js';
import { printable } from './render/printable.js';
import type { Report } from './report.schema.js';
import { booksReason } from './verdict.js';

/** How `ab` ends: its exit status, and its message without a line end where there is one. */
export interface AbExit {
  readonly code: number;
  readonly stderr?: string;
  /** `Total of <n> requests completed`, which ab prints on stdout instead of a report; we print the report too. */
  readonly totalLine?: string;
}

interface SystemError {
  readonly errno: number;
  readonly text: string;
}

/** Linux numbers and texts, which is what people's scripts compare with. */
const SYSTEM_ERRORS: Readonly<Record<string, SystemError>> = {
  EPIPE: { errno: 32, text: 'Broken pipe' },
  EMFILE: { errno: 24, text: 'Too many open files' },
  ENFILE: { errno: 23, text: 'Too many open files in system' },
  EACCES: { errno: 13, text: 'Permission denied' },
  EPERM: { errno: 1, text: 'Operation not permitted' },
  EADDRINUSE: { errno: 98, text: 'Address already in use' },
  EADDRNOTAVAIL: { errno: 99, text: 'Cannot assign requested address' },
  ENETUNREACH: { errno: 101, text: 'Network is unreachable' },
  ECONNRESET: { errno: 104, text: 'Connection reset by peer' },
  ETIMEDOUT: { errno: 110, text: 'Connection timed out' },
  ECONNREFUSED: { errno: 111, text: 'Connection refused' },
  EHOSTUNREACH: { errno: 113, text: 'No route to host' },
};

/** System error of a class whose report names none. */
const CODE_OF_CLASS: Partial<Record<FailureClass, string>> = {
  connectRefused: 'ECONNREFUSED',
  connectUnreachable: 'EHOSTUNREACH',
  noLocalPort: 'EADDRNOTAVAIL',
  noDescriptor: 'EMFILE',
  resetBeforeFirstByte: 'ECONNRESET',
  resetAfterFirstByte: 'ECONNRESET',
  write: 'EPIPE',
};

/** APR adds 670 000 to the (positive) numbers of getaddrinfo. */
const NAME_ERRORS: Readonly<Record<string, SystemError>> = {
  ENOTFOUND: { errno: 670_002, text: 'Name or service not known' },
  ENODATA: { errno: 670_005, text: 'No address associated with hostname' },
  EAI_AGAIN: { errno: 670_003, text: 'Temporary failure in name resolution' },
  EAI_FAIL: { errno: 670_004, text: 'Non-recoverable failure in name resolution' },
};

/** APR's number for a poll that waited in vain. */
const APR_TIMEOUT: SystemError = { errno: 70_007, text: 'The timeout specified has expired' };

/**
 * Ends like ab: 0 even with failed requests, the system's number after a fatal error, 1 when interrupted. ab has no
 * status for books that do not balance: 1, so that no script takes such numbers for good.
 */
export function abExitOf(report: Report, host = ''): AbExit {
  if (report.fatal !== undefined) {
    // ab leaves before it counts the request whose connection broke.
    const { complete, receive, exceptions } = abCounts(report);
    const counted = complete - receive - exceptions;
    return {
      ...abExitOfFatal(report.fatal, host),
      ...(counted > 0 ? { totalLine: `Total of ${counted} requests completed` } : {}),
    };
  }
  const books = booksReason(report);
  if (books !== undefined) return { code: 1, stderr: `ab: ${printable(books)}` };
  if (report.run.state === 'finished') return { code: 0 };
  const { reason } = report.run;
  return report.run.state === 'aborted' || reason === undefined
    ? { code: 1 }
    : { code: 1, stderr: `ab: ${printable(reason)}` };
}

/** @param host as typed; ab names it when the name is not found. */
export function abExitOfFatal(fatal: Fatal, host: string): AbExit {
  const nameError = NAME_ERRORS[fatal.code];
  if (nameError !== undefined) {
    return aprExit(`apr_sockaddr_info_get() for ${printable(host)}`, nameError);
  }
  const { failureClass } = fatal;
  if (failureClass === 'timeout' || failureClass === 'connectTimeout') {
    return aprExit('apr_pollset_poll', APR_TIMEOUT);
  }
  const code =
    SYSTEM_ERRORS[fatal.code] === undefined && failureClass ? CODE_OF_CLASS[failureClass] : fatal.code;
  const known = code === undefined ? undefined : SYSTEM_ERRORS[code];
  if (known === undefined) return { code: 1, stderr: `ab: ${printable(fatal.message)}` };
  return aprExit(aprCallOf(failureClass), { errno: fatal.errno ?? known.errno, text: known.text });
}

/** The call that ab names where it is not the usual one: it learns of most errors when it first reads. */
const APR_CALL_OF_CLASS: Partial<Record<FailureClass, string>> = {
  noDescriptor: 'socket',
  noLocalPort: 'bind',
  write: 'apr_socket_send',
  connectUnreachable: 'apr_socket_connect()',
  connectOther: 'apr_socket_connect()',
};

function aprCallOf(failureClass: FailureClass | undefined): string {
  return (failureClass && APR_CALL_OF_CLASS[failureClass]) ?? 'apr_socket_recv';
}

/** The status is the number cut to eight bits. */
function aprExit(call: string, { errno, text }: SystemError): AbExit {
  return { code: errno % 256, stderr: `${call}: ${text} (${errno})` };
}
