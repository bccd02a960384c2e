import { getSystemErrorName } from 'node:util';
import { FAILURE_CLASSES, type FailureClass, type Fatal } from '@broadside/shared/engine';

/** What happened, to be followed by the target's address. */
const SENTENCES: Readonly<Record<FailureClass, string>> = {
  connectRefused: 'connection refused by',
  connectTimeout: 'no answer to the connection attempt from',
  connectUnreachable: 'no route to',
  noLocalPort: 'no local port left for connections to',
  noDescriptor: 'no file descriptor left for connections to',
  connectOther: 'cannot connect to',
  tls: 'TLS failed with',
  write: 'cannot write to',
  resetBeforeFirstByte: 'connection reset before the reply by',
  resetAfterFirstByte: 'connection reset in the middle of the reply by',
  closedWithoutReplyNew: 'connection closed without a reply by',
  closedWithoutReplyReused: 'connection closed without a reply by',
  pipelineEnded: 'connection ended in front of a request in the pipeline by',
  truncated: 'incomplete reply from',
  malformed: 'the reply is not HTTP/1.x from',
  tooLarge: 'the reply is larger than the limit from',
  timeout: 'no complete reply in time from',
  lengthDiffers: 'body of another length from',
  status: 'status other than 2xx from',
};

/**
 * A failure in the form that travels.
 * @param failure position in `FAILURE_CLASSES`. @param errno positive, 0 where the system gave none.
 */
export function fatalOf(failure: number, errno: number, peer: string): Fatal {
  const failureClass = FAILURE_CLASSES[failure] ?? 'connectOther';
  const message = `${SENTENCES[failureClass]} ${peer}`;
  if (errno === 0) return { failureClass, code: 'REQUEST_FAILED', message };
  const code = errorNameOf(errno);
  return { failureClass, code, errno, message: `${message} (${code})` };
}

function errorNameOf(errno: number): string {
  try {
    return getSystemErrorName(-errno);
  } catch {
    // Numbers that this Node does not know still tell the reader something.
    return `ERRNO_${errno}`;
  }
}
