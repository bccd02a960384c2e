/** Any error as a status and one clear body (`errorBodySchema`). Pure; the filter sends it. */
import { BroadsideError, ERROR_STATUS, type ErrorBody, type ErrorCode } from '@broadside/shared';
import { StoreError } from '../storage/store-error.js';
import { isPassing } from '../storage/store-patience.js';

export interface ErrorReply {
  readonly status: number;
  readonly body: ErrorBody;
  /** True for what is on our side: to be logged, and its details not to be shown to strangers. */
  readonly isOurs: boolean;
}

const CODE_OF_STATUS = new Map<number, ErrorCode>(
  (Object.entries(ERROR_STATUS) as [ErrorCode, number][]).map(([code, status]) => [status, code]),
);

export function errorReplyOf(error: unknown): ErrorReply {
  if (error instanceof BroadsideError) {
    const { code, message, hint, problems } = error;
    return {
      status: ERROR_STATUS[code],
      isOurs: code === 'internal',
      body: {
        error: {
          code,
          message,
          ...(hint === undefined ? {} : { hint }),
          ...(problems.length === 0 ? {} : { problems: [...problems] }),
        },
      },
    };
  }
  if (error instanceof URIError) {
    const message =
      'the address of the request cannot be decoded: after each % there must be two hexadecimal digits';
    return { status: ERROR_STATUS.invalid, isOurs: false, body: { error: { code: 'invalid', message } } };
  }
  // Errors of the HTTP framework carry their status: an unknown route, an address that cannot be decoded.
  const status = statusOf(error);
  if (status !== undefined && status >= 400 && status < 500) {
    const code = codeOfStatus(status);
    const message = error instanceof Error ? error.message : 'the request cannot be served';
    return { status, isOurs: false, body: { error: { code, message } } };
  }
  if (error instanceof StoreError || isPassing(error)) {
    const message = "the coordinator's store cannot be used";
    const hint = 'its log has the details; try again when the store is back';
    return {
      status: ERROR_STATUS.unavailable,
      isOurs: true,
      body: { error: { code: 'unavailable', message, hint } },
    };
  }
  return {
    status: ERROR_STATUS.internal,
    isOurs: true,
    body: { error: { code: 'internal', message: 'a defect of the coordinator; its log has the details' } },
  };
}

/** The code that fits a status; statuses that are not in the table are refusals of what was asked. */
export function codeOfStatus(status: number): ErrorCode {
  return CODE_OF_STATUS.get(status) ?? (status >= 500 ? 'internal' : 'invalid');
}

function statusOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { status } = error as { status?: unknown; getStatus?: unknown };
  if (typeof status === 'number') return status;
  const { getStatus } = error as { getStatus?: unknown };
  if (typeof getStatus !== 'function') return undefined;
  const answer: unknown = getStatus.call(error);
  return typeof answer === 'number' ? answer : undefined;
}
