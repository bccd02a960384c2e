import type { Problem } from './plan/parse-plan.js';

/**
 * What can go wrong for a person, each with a stable code. The CLI maps codes to exit codes
 * (report/exit-code.ts), REST maps them to statuses.
 */
export const ERROR_STATUS = {
  /** The plan, a flag or a body is not valid; the message says what, `problems` lists everything for programs. */
  invalid: 400,
  /** No token, or a wrong one. */
  unauthorized: 401,
  /** The policy of the cluster does not allow what the plan asks for. */
  notAllowed: 403,
  /** The token is known, but its role may not do that. */
  forbidden: 403,
  /** No such run or route. */
  notFound: 404,
  /** There is such an address, and it is not for this method; the header Allow has those that it is for. */
  methodNotAllowed: 405,
  /** The run cannot do that in its state. */
  conflict: 409,
  tooLarge: 413,
  /** The body is in a character set that is not read. */
  unsupported: 415,
  /** No agent of the cluster has the labels that the plan asks for. */
  noSuchAgents: 422,
  /** The plan asks for more slots than the cluster, or its agents with the labels, have. */
  notEnoughSlots: 422,
  /** Too many runs wait already, or too many wrong tokens came. */
  busy: 429,
  /** A defect of ours. */
  internal: 500,
  /** The coordinator is starting or stopping. */
  unavailable: 503,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

/** An expected failure with a code, one clear sentence and, where a person can act, a hint. */
export class BroadsideError extends Error {
  override readonly name = 'BroadsideError';
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly problems: readonly Problem[];

  constructor(
    code: ErrorCode,
    message: string,
    details: { hint?: string; problems?: readonly Problem[]; cause?: unknown } = {},
  ) {
    super(message, { cause: details.cause });
    this.code = code;
    this.hint = details.hint;
    this.problems = details.problems ?? [];
  }
}
