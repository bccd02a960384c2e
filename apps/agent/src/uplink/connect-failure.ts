import { BroadsideError, CERTIFICATE_REASONS, ROUTES } from '@broadside/shared';

/** Why one attempt to reach the coordinator failed. */
export interface ConnectFailure {
  readonly error: BroadsideError;
  /** False where another attempt with the same address and token must fail in the same way. */
  readonly isRetryable: boolean;
}

/** What the HTTP answer to the upgrade means, when it is not 101. `origin` is printed, so it has no credentials. */
export function failureOfStatus(origin: string, status: number): ConnectFailure {
  if (status === 401 || status === 403) {
    const error = new BroadsideError('unauthorized', `the coordinator at ${origin} refused the join token`, {
      hint: 'pass the join token the coordinator was started with, or one of `broadside token create --role agent`',
    });
    return { error, isRetryable: false };
  }
  if (status === 404 || status === 426 || (status >= 200 && status < 400)) {
    const error = new BroadsideError(
      'notFound',
      `${origin} answers, but has no Broadside agent socket (${ROUTES.agentSocket}: status ${status})`,
      { hint: 'check host and port of the coordinator' },
    );
    return { error, isRetryable: false };
  }
  if (status === 429) {
    const error = new BroadsideError(
      'busy',
      `the coordinator at ${origin} looks at no join token now: too many wrong tokens came from this address`,
      { hint: 'wait a minute, and look for agents here that still show an old token' },
    );
    return { error, isRetryable: true };
  }
  const error = new BroadsideError(
    'unavailable',
    `the coordinator at ${origin} answers with status ${status}`,
    {
      hint: 'it may be starting or stopping; try again',
    },
  );
  return { error, isRetryable: true };
}

/** Whether the coordinator looked at the join token and did not take it. */
export function isTokenRefusal({ error }: ConnectFailure): boolean {
  return error.code === 'unauthorized';
}

/**
 * What keeps the agent out: a token that was refused is no better because the coordinator, after too many of them,
 * does not look at it any more.
 * @param earlier of the attempt before, where there was no welcome in between.
 */
export function standingFailure(
  failure: ConnectFailure,
  earlier: ConnectFailure | undefined,
): ConnectFailure {
  const isThrottled = failure.error.code === 'busy';
  return isThrottled && earlier !== undefined && isTokenRefusal(earlier) ? earlier : failure;
}

const SYSTEM_ERRORS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  ETIMEDOUT: 'no answer',
  EPROTO: 'it speaks no TLS; is it http:// there?',
  ...CERTIFICATE_REASONS,
  ENOTFOUND: 'host name not found',
  EAI_AGAIN: 'host name not found (the name server does not answer)',
};

/** What an error of the socket before the greeting was complete means. */
export function failureOfError(origin: string, cause: Error): ConnectFailure {
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : '';
  const reason = SYSTEM_ERRORS[code] ?? cause.message.replaceAll(/\s+/g, ' ').slice(0, 200);
  const error = new BroadsideError('unavailable', `cannot reach the coordinator at ${origin}: ${reason}`, {
    hint: 'check that it runs there and that this machine can connect to it',
    cause,
  });
  // A certificate that does not do now will not do in a second.
  return { error, isRetryable: !Object.hasOwn(CERTIFICATE_REASONS, code) };
}

/** The coordinator answered the greeting with a refusal, or speaks another protocol. */
export function failureOfRejection(origin: string, reason: string): ConnectFailure {
  const error = new BroadsideError(
    'conflict',
    `the coordinator at ${origin} does not accept this agent: ${reason}`,
  );
  return { error, isRetryable: false };
}
