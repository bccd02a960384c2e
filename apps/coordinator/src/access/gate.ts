/** Decides about every request and every WebSocket before anything else sees it: who is it, and may they. */
import type { IncomingMessage } from 'node:http';
import { BroadsideError, mayActAs, readTokenText, type TokenRole, tokenKindOf } from '@broadside/shared';
import { bearerOf } from './bearer.js';
import { type Caller, type Principal, UNNAMED } from './principal.js';
import { isForwarded, isLoopbackName, isSafeMethod, isSameOrigin } from './same-origin.js';
import type { Tickets } from './tickets.js';
import type { TokenRegistry } from './token-registry.js';

export interface GateParts {
  readonly registry: TokenRegistry;
  readonly tickets: Tickets;
}

export class Gate {
  readonly #parts: GateParts;

  constructor(parts: GateParts) {
    this.#parts = parts;
  }

  /**
   * Who asks, when they may.
   * @throws BroadsideError `unauthorized` or `forbidden`, without a word of what was shown.
   */
  admit(request: IncomingMessage, needed: TokenRole): Caller {
    const isUpgrade = request.headers.upgrade !== undefined;
    if ((isUpgrade || !isSafeMethod(request.method)) && !isSameOrigin(request)) {
      throw new BroadsideError('forbidden', 'a page of another site may not do this');
    }
    const principal = this.#principalOf(request, needed);
    if (!mayActAs(principal.role, needed)) throw forbidden(principal, needed);
    return { ...principal, address: addressOf(request) };
  }

  #principalOf(request: IncomingMessage, needed: TokenRole): Principal {
    const { registry, tickets } = this.#parts;
    if (needed !== 'agent' && !registry.guardsPeople) {
      requireThisMachine(request);
      return UNNAMED;
    }
    const text = bearerOf(request);
    if (text === undefined) {
      const ticketHolder = needed === 'agent' ? undefined : tickets.redeem(request);
      if (ticketHolder !== undefined) return ticketHolder;
      throw unauthorized(needed, needed === 'agent' ? 'the join token is missing' : 'a token is needed');
    }
    const recognition = registry.recognise(text);
    if (recognition.state === 'valid') return recognition.principal;
    if (recognition.state === 'unknown') throw unauthorized(needed, unknownText(text, needed));
    throw unauthorized(
      needed,
      recognition.state === 'expired' ? 'the token has expired' : 'the token was revoked',
    );
  }
}

/**
 * Without tokens, being on this machine is the only proof. A page in a browser could pass for that by a name of
 * its own that resolves to loopback (DNS rebinding), but not by a loopback address; and a proxy on this machine
 * would lend it to strangers.
 */
function requireThisMachine(request: IncomingMessage): void {
  if (!isLoopbackName(request)) {
    throw new BroadsideError('unauthorized', 'without tokens only loopback names are served', {
      hint: 'use http://127.0.0.1:<port> or http://localhost:<port>',
    });
  }
  if (isForwarded(request)) {
    throw new BroadsideError('unauthorized', 'without tokens nothing is served through a proxy', {
      hint: 'give the coordinator a token with --admin-token-file',
    });
  }
}

function unauthorized(needed: TokenRole, message: string): BroadsideError {
  const hint =
    needed === 'agent'
      ? 'agents show a join token: broadside token create --role agent'
      : 'send the header Authorization: Bearer <token>';
  return new BroadsideError('unauthorized', message, { hint });
}

function unknownText(text: string, needed: TokenRole): string {
  const kind = readTokenText(text);
  if (kind === 'damaged') return 'the token is damaged: cut off, or mistyped';
  if (kind !== 'other' && kind !== tokenKindOf(needed)) return wrongKind(needed);
  return needed === 'agent' ? 'the join token is wrong' : 'the token is not known here';
}

function wrongKind(needed: TokenRole): string {
  return needed === 'agent'
    ? 'a token for people does not let an agent join'
    : 'a join token is good for agents only';
}

function forbidden(principal: Principal, needed: TokenRole): BroadsideError {
  if (principal.role === 'agent' || needed === 'agent') return unauthorized(needed, wrongKind(needed));
  return new BroadsideError('forbidden', `this needs the role ${needed}; the token has ${principal.role}`);
}

/** Address of the client as the socket has it, IPv4 in its own form. */
function addressOf(request: IncomingMessage): string {
  return (request.socket.remoteAddress ?? 'unknown').replace(/^::ffff:/, '');
}
