/** Carries who asks from the gate, before Nest, to the controllers. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { BroadsideError } from '@broadside/shared';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { pathOf } from '../http/path.js';
import type { Gate } from './gate.js';
import type { Caller } from './principal.js';
import { allowedMethodsOf, neededRoleOf } from './route-roles.js';

type Next = (error?: unknown) => void;
type Middleware = (request: IncomingMessage, response: ServerResponse, next: Next) => void;

const callers = new WeakMap<IncomingMessage, Caller>();

/** Middleware: lets a request through when the table of routes and its token allow it. */
export function requireRole(gate: Gate): Middleware {
  return (request, response, next) => {
    const path = pathOf(request);
    const needed = neededRoleOf(request.method, path);
    try {
      if (needed === undefined) {
        // Whoever may see nothing is not told either what there is.
        if (path.startsWith('/api/')) gate.admit(request, 'viewer');
        answerOtherMethod(request, response, path);
        return;
      }
      if (needed !== 'nothing') callers.set(request, gate.admit(request, needed));
    } catch (error) {
      next(error);
      return;
    }
    next();
  };
}

/**
 * Tells what may be asked of an address. OPTIONS asks just for that; it allows no page of another site anything (CORS).
 * @throws BroadsideError notFound, methodNotAllowed.
 */
function answerOtherMethod({ method }: IncomingMessage, response: ServerResponse, path: string): void {
  const allowed = allowedMethodsOf(path);
  if (allowed.length === 0) throw new BroadsideError('notFound', 'there is nothing at this address');
  response.setHeader('Allow', allowed.join(', '));
  if (method !== 'OPTIONS') {
    const message = `${method ?? 'this method'} is not for this address; it takes ${allowed.join(', ')}`;
    throw new BroadsideError('methodNotAllowed', message);
  }
  response.statusCode = 204;
  response.end();
}

/** Parameter of a controller's method: who asks. */
export const CallerOf = createParamDecorator((_nothing: unknown, context: ExecutionContext): Caller => {
  const caller = callers.get(context.switchToHttp().getRequest<IncomingMessage>());
  if (caller === undefined) throw new Error('a route that needs nobody asks who it is');
  return caller;
});
