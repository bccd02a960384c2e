/** Decides about every request and every WebSocket before anything else sees it: who is it, and may they. */
import type { IncomingMessage } from 'node:http';
import { BroadsideError, mayActAs, readTokenText, type TokenRole, tokenKindOf } from '@broadside/shared';
import { bearerOf } from './bearer.js';
import { type Forwarding, isForwarded } from './forwarding.js';
import type { LoginThrottle } from './login-throttle.js';
import { type Caller, type Principal, UNNAMED } from './principal.js';
import { isLoopbackName, isSafeMethod, isSameOrigin } from './same-origin.js';
import type { Tickets } from './tickets.js';
import type { TokenRegistry } from './token-registry.js';

export interface GateParts {
  readonly registry: TokenRegistry;
  readonly tickets: Tickets;
  readonly throttle: LoginThrottle;
  readonly forwarding: Forwarding;
  /** Told of every token that was shown and was not good. */
  readonly onFailedLogin: (address: string, needed: TokenRole) => void;
  /** Told of every request of a good token whose role is too little for it. */
  readonly onForbidden: (caller: Caller, request: IncomingMessage) => void;
}

export class Gate {
  readonly #parts: GateParts;

  constructor(parts: GateParts) {
    this.#parts = parts;
  }

  /**
   * Who asks, when they may.
   * @throws BroadsideError `unauthorized`, `forbidden`, or `busy` after too many wrong tokens, without a word of what
   *   was shown.
   */
  admit(request: IncomingMessage, needed: TokenRole): Caller {
    const isUpgrade = request.headers.upgrade !== undefined;
    const { forwarding } = this.#parts;
    if ((isUpgrade || !isSafeMethod(request.method)) && !isSameOrigin(request, forwarding.hostOf(request))) {
      throw new BroadsideError('forbidden', 'a page of another site may not do this');
    }
    const address = forwarding.addressOf(request);
    const principal = this.#principalOf(request, needed, address);
    const caller = { ...principal, address };
    if (mayActAs(principal.role, needed)) return caller;
    if (principal.role === 'agent' || needed === 'agent')
      throw this.#failed(address, needed, wrongKind(needed));
    this.#parts.onForbidden(caller, request);
    throw new BroadsideError('forbidden', `this needs the role ${needed}; the token has ${principal.role}`);
  }

  #principalOf(request: IncomingMessage, needed: TokenRole, address: string): Principal {
    const { registry, tickets, throttle } = this.#parts;
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
    const kind = readTokenText(text);
    // Nobody guesses a made token, so whoever holds one is not kept out by what others try.
    const isGuessable = kind === 'other' || kind === 'damaged';
    if (isGuessable && throttle.isBlocked(address)) throw this.#failed(address, needed, '');
    const recognition = registry.recognise(text);
    if (recognition.state === 'valid') return recognition.principal;
    throw this.#failed(
      address,
      needed,
      recognition.state === 'unknown' ? unknownText(kind, needed) : ENDED[recognition.state],
    );
  }

  /** Counts a token that was not good, and says so. */
  #failed(address: string, needed: TokenRole, message: string): BroadsideError {
    const { throttle, onFailedLogin } = this.#parts;
    onFailedLogin(address, needed);
    if (throttle.isBlocked(address)) {
      return new BroadsideError('busy', 'too many wrong tokens came from this address, or from everywhere', {
        hint: 'wait a minute',
      });
    }
    throttle.fail(address);
    return unauthorized(needed, message);
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

const ENDED = { expired: 'the token has expired', revoked: 'the token was revoked' } as const;

function unknownText(kind: ReturnType<typeof readTokenText>, needed: TokenRole): string {
  if (kind === 'damaged') return 'the token is damaged: cut off, or mistyped';
  if (kind !== 'other' && kind !== tokenKindOf(needed)) return wrongKind(needed);
  return needed === 'agent' ? 'the join token is wrong' : 'the token is not known here';
}

function wrongKind(needed: TokenRole): string {
  return needed === 'agent'
    ? 'a token for people does not let an agent join'
    : 'a join token is good for agents only';
}
