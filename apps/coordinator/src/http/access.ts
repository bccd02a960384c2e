import type { IncomingMessage, ServerResponse } from 'node:http';
import { BroadsideError, ROUTES } from '@broadside/shared';
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

/** Everything below `/api/` wants the token, except the description of the interface itself. */
export function requireApiToken(secret: Secret | undefined): Middleware {
  return (request, _response, next) => {
    const path = pathOf(request);
    const isOpen = !path.startsWith('/api/') || isBelow(path, ROUTES.openApi);
    if (secret === undefined || isOpen || secret.matchesBearer(request.headers.authorization)) {
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
