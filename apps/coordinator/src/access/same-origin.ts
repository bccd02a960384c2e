import type { IncomingMessage } from 'node:http';
import { isLoopback } from '../config/config.schema.js';

/** Browsers say which site a script came from; whoever sends no Origin is no browser. */
export function isSameOrigin(request: IncomingMessage, host: string | undefined): boolean {
  const { origin } = request.headers;
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  const { protocol, host: from } = new URL(origin);
  // Through the same scheme, so that a port that goes without saying is left out of both.
  const asked = `${protocol}//${host ?? ''}`;
  return URL.canParse(asked) && new URL(asked).host === from;
}

/** Whether a method only asks (RFC 9110 9.2.1). */
export function isSafeMethod(method: string | undefined): boolean {
  return method === 'GET' || method === 'HEAD';
}

export function isLoopbackName(request: IncomingMessage): boolean {
  const { host } = request.headers;
  // HTTP/1.0 clients may leave it out; no browser does.
  if (host === undefined) return true;
  return URL.canParse(`http://${host}`) && isLoopback(new URL(`http://${host}`).hostname);
}
