/**
 * Tickets: a browser cannot send a header with a WebSocket, and a token in an address ends up in logs. So it asks
 * for a ticket with its token, and offers it as a subprotocol: for one stream, once, within half a minute.
 */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { LIMITS, type Ticket } from '@broadside/shared';
import type { Principal } from './principal.js';
import { digestOf, type TokenRegistry } from './token-registry.js';

const LIFE_MS = 30_000;
const BEGINNING = 'broadside.ticket.';

interface Open {
  readonly principal: Principal;
  readonly expiresAtMs: number;
}

export class Tickets {
  readonly #registry: Pick<TokenRegistry, 'isValid'>;
  readonly #now: () => Date;
  /** By digest, the oldest first. */
  readonly #open = new Map<string, Open>();

  constructor(registry: Pick<TokenRegistry, 'isValid'>, now: () => Date) {
    this.#registry = registry;
    this.#now = now;
  }

  issue(principal: Principal): Ticket {
    const protocol = BEGINNING + randomBytes(32).toString('hex');
    const expiresAtMs = this.#now().getTime() + LIFE_MS;
    for (const key of this.#open.keys()) {
      if (this.#open.size < LIMITS.maxTickets) break;
      this.#open.delete(key);
    }
    const { tokenId, name, role } = principal;
    this.#open.set(keyOf(protocol), { principal: { tokenId, name, role }, expiresAtMs });
    return { protocol, expiresAt: new Date(expiresAtMs).toISOString() };
  }

  /** Who the ticket among the offered subprotocols was made for; it is used up by that. */
  redeem(request: IncomingMessage): Principal | undefined {
    const offered = request.headers['sec-websocket-protocol']?.split(',').map((name) => name.trim()) ?? [];
    const protocol = offered.find((name) => name.startsWith(BEGINNING));
    if (protocol === undefined) return undefined;
    const key = keyOf(protocol);
    const open = this.#open.get(key);
    this.#open.delete(key);
    if (open === undefined || open.expiresAtMs <= this.#now().getTime()) return undefined;
    // A token that was revoked meanwhile takes its tickets with it.
    return this.#registry.isValid(open.principal.tokenId) ? open.principal : undefined;
  }
}

/** The map is asked for digests, so that how long it takes says nothing of what it holds. */
function keyOf(protocol: string): string {
  return digestOf(protocol).toString('hex');
}
