/** Carries who asks from the gate, before Nest, to the controllers. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { BroadsideError } from '@broadside/shared';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { pathOf } from '../http/path.js';
import type { Gate } from './gate.js';
import type { Caller } from './principal.js';
import { neededRoleOf } from './route-roles.js';

type Next = (error?: unknown) => void;
type Middleware = (request: IncomingMessage, response: ServerResponse, next: Next) => void;

const callers = new WeakMap<IncomingMessage, Caller>();

/** Middleware: lets a request through when the table of routes and its token allow it. */
export function requireRole(gate: Gate): Middleware {
  return (request, _response, next) => {
    const path = pathOf(request);
    const needed = neededRoleOf(request.method, path);
    try {
      // Whoever may see nothing is not told either what there is.
      if (needed === undefined && path.startsWith('/api/')) gate.admit(request, 'viewer');
      if (needed === undefined) throw new BroadsideError('notFound', 'there is nothing at this address');
      if (needed !== 'nothing') callers.set(request, gate.admit(request, needed));
    } catch (error) {
      next(error);
      return;
    }
    next();
  };
}

/** Parameter of a controller's method: who asks. */
export const CallerOf = createParamDecorator((_nothing: unknown, context: ExecutionContext): Caller => {
  const caller = callers.get(context.switchToHttp().getRequest<IncomingMessage>());
  if (caller === undefined) throw new Error('a route that needs nobody asks who it is');
  return caller;
});
