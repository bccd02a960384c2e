import type { IncomingMessage } from 'node:http';
import { isLoopback } from '../config/config.schema.js';

/** Browsers say which site a script came from; whoever sends no Origin is no browser. */
export function isSameOrigin(request: IncomingMessage): boolean {
  const { origin, host } = request.headers;
  if (origin === undefined) return true;
  return URL.canParse(origin) && new URL(origin).host === host;
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

/** Whether somebody between says that it only hands the request on. */
export function isForwarded(request: IncomingMessage): boolean {
  const { headers } = request;
  return ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'].some((name) => headers[name] !== undefined);
}
