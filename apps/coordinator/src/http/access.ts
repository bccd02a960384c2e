import type { IncomingMessage, ServerResponse } from 'node:http';
import { BroadsideError, ROUTES } from '@broadside/shared';
import { isLoopback } from '../config/config.schema.js';
import type { Secret } from './secret.js';

type Next = (error?: unknown) => void;
type Middleware = (request: IncomingMessage, response: ServerResponse, next: Next) => void;

/** Headers that cost nothing and keep browsers from doing more with a reply than reading it. */
export function securityHeaders(_request: IncomingMessage, response: ServerResponse, next: Next): void {
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('X-Frame-Options', 'DENY');
  response.setHeader('Referrer-Policy', 'no-referrer');
  response.setHeader('Cache-Control', 'no-store');
  next();
}

/**
 * Without a token, being on this machine is the only proof. A page in a browser could pass for that by a name
 * of its own that resolves to loopback (DNS rebinding), but not by a loopback address.
 */
export function requireLoopbackName(request: IncomingMessage, _response: ServerResponse, next: Next): void {
  if (isLoopbackName(request)) next();
  else {
    next(
      new BroadsideError('unauthorized', 'without an API token only loopback names are served', {
        hint: 'use http://127.0.0.1:<port> or http://localhost:<port>',
      }),
    );
  }
}

export function isLoopbackName(request: IncomingMessage): boolean {
  const { host } = request.headers;
  // HTTP/1.0 clients may leave it out; no browser does.
  if (host === undefined) return true;
  return URL.canParse(`http://${host}`) && isLoopback(new URL(`http://${host}`).hostname);
}

/** Everything below `/api/` wants the token, except the description of the interface itself. */
export function requireApiToken(secret: Secret): Middleware {
  return (request, _response, next) => {
    const path = pathOf(request);
    const isOpen = !path.startsWith('/api/') || isBelow(path, ROUTES.openApi);
    if (isOpen || secret.matchesBearer(request.headers.authorization)) {
      next();
      return;
    }
    next(
      new BroadsideError('unauthorized', 'the API token is missing or wrong', {
        hint: 'send the header Authorization: Bearer <token>',
      }),
    );
  };
}

export function isBelow(path: string, route: string): boolean {
  return path === route || path.startsWith(`${route}/`);
}

/** The path alone, in lower case because the router does not tell cases apart. */
export function pathOf(request: IncomingMessage): string {
  const url = request.url ?? '/';
  const end = url.search(/[?#]/);
  return (end < 0 ? url : url.slice(0, end)).toLowerCase();
}
