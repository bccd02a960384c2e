import type { IncomingMessage } from 'node:http';

/** The token of an `Authorization` header: `Bearer <token>` (RFC 6750 2.1). Undefined without one. */
export function bearerOf(request: IncomingMessage): string | undefined {
  const { authorization } = request.headers;
  if (authorization === undefined) return undefined;
  // What is no bearer token is as good as a wrong one.
  return /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? '';
}
