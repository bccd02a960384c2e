/**
 * All tokens of this coordinator and what each is worth now. Holds digests, never the tokens themselves.
 *
 * A digest is SHA-256 without salt or stretching: a made token has 256 random bits, so that there is nothing to
 * guess, and every request is checked (docs/adr/0004).
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { TokenRole, TokenSummary } from '@broadside/shared';
import { type Principal, UNNAMED } from './principal.js';

export interface KnownToken {
  readonly id: string;
  readonly name: string;
  readonly role: TokenRole;
  /** Made here and stored, or given at the start and nowhere else. */
  readonly source: 'made' | 'given';
  /** SHA-256 of its text. */
  readonly digest: Buffer;
  readonly createdAt: Date;
  readonly expiresAt?: Date | undefined;
  readonly lastUsedAt?: Date | undefined;
  readonly revokedAt?: Date | undefined;
}

export type TokenState = TokenSummary['state'];

export type Recognition =
  | { readonly state: 'valid'; readonly principal: Principal }
  | { readonly state: 'unknown' | Exclude<TokenState, 'valid'> };

/** Last use is kept to the minute, so that it costs the store one write a minute and token. */
const LAST_USED_STEP_MS = 60_000;

export class TokenRegistry {
  readonly #now: () => Date;
  readonly #tokens = new Map<string, KnownToken>();
  /** By a part of the digest, which nobody can choose; the whole is then compared in constant time. */
  readonly #idOfDigestStart = new Map<string, string>();
  /** Tokens whose last use the store does not know yet. */
  readonly #used = new Set<string>();
  /** Expired tokens that have been named by `takeExpired`. */
  readonly #ended = new Set<string>();
  #guardsPeople = false;

  constructor(now: () => Date) {
    this.#now = now;
  }

  get size(): number {
    return this.#tokens.size;
  }

  /**
   * Whether people need a token: from the first one that was ever made or given, and for good, because the end of
   * the last token must not open the door.
   */
  get guardsPeople(): boolean {
    return this.#guardsPeople;
  }

  /** Whether somebody may make tokens and revoke them. */
  get hasAdmin(): boolean {
    return this.#validAdmins().length > 0;
  }

  /** True when no other token would be left that may make tokens. */
  isLastAdmin(id: string): boolean {
    const admins = this.#validAdmins();
    return admins.length === 1 && admins[0]?.id === id;
  }

  /** @returns false when the same text is known already, whose entry then stays as it is. */
  add(token: KnownToken): boolean {
    const start = startOf(token.digest);
    if (this.#idOfDigestStart.has(start)) return false;
    this.#tokens.set(token.id, token);
    this.#idOfDigestStart.set(start, token.id);
    if (token.role !== 'agent') this.#guardsPeople = true;
    return true;
  }

  get(id: string): KnownToken | undefined {
    return this.#tokens.get(id);
  }

  /** Whether a caller with this token may go on. */
  isValid(id: string): boolean {
    if (id === UNNAMED.tokenId) return !this.#guardsPeople;
    const token = this.#tokens.get(id);
    return token !== undefined && this.stateOf(token) === 'valid';
  }

  /** Whose token this is; a valid one counts as used now. */
  recognise(text: string): Recognition {
    const digest = digestOf(text);
    const id = this.#idOfDigestStart.get(startOf(digest));
    const token = id === undefined ? undefined : this.#tokens.get(id);
    if (token === undefined || !timingSafeEqual(token.digest, digest)) return { state: 'unknown' };
    const state = this.stateOf(token);
    if (state !== 'valid') return { state };
    this.#use(token);
    return { state, principal: { tokenId: token.id, name: token.name, role: token.role } };
  }

  revoke(id: string, revokedAt: Date): void {
    const token = this.#tokens.get(id);
    if (token !== undefined) this.#tokens.set(id, { ...token, revokedAt });
  }

  /** Names the tokens that have expired since it was asked before. */
  takeExpired(): string[] {
    const expired = [...this.#tokens.values()].filter(
      (token) => this.stateOf(token) === 'expired' && !this.#ended.has(token.id),
    );
    for (const { id } of expired) this.#ended.add(id);
    return expired.map(({ id }) => id);
  }

  /** Names the tokens that were used since it was asked before. */
  takeUsed(): { readonly id: string; readonly lastUsedAt: Date }[] {
    const used = [...this.#used].flatMap((id) => {
      const lastUsedAt = this.#tokens.get(id)?.lastUsedAt;
      return lastUsedAt === undefined ? [] : [{ id, lastUsedAt }];
    });
    this.#used.clear();
    return used;
  }

  /** Newest first. */
  summaries(): TokenSummary[] {
    return [...this.#tokens.values()]
      .toSorted((a, b) => b.createdAt.getTime() - a.createdAt.getTime())
      .map((token) => this.summaryOf(token));
  }

  summaryOf(token: KnownToken): TokenSummary {
    const { id, name, role, source, createdAt, expiresAt, lastUsedAt, revokedAt } = token;
    return {
      id,
      name,
      role,
      source,
      state: this.stateOf(token),
      createdAt: createdAt.toISOString(),
      ...(expiresAt === undefined ? {} : { expiresAt: expiresAt.toISOString() }),
      ...(lastUsedAt === undefined ? {} : { lastUsedAt: lastUsedAt.toISOString() }),
      ...(revokedAt === undefined ? {} : { revokedAt: revokedAt.toISOString() }),
    };
  }

  stateOf({ revokedAt, expiresAt }: KnownToken): TokenState {
    if (revokedAt !== undefined) return 'revoked';
    return expiresAt !== undefined && expiresAt <= this.#now() ? 'expired' : 'valid';
  }

  #validAdmins(): KnownToken[] {
    return [...this.#tokens.values()].filter(
      (token) => token.role === 'admin' && this.stateOf(token) === 'valid',
    );
  }

  #use(token: KnownToken): void {
    const now = this.#now();
    if (token.lastUsedAt !== undefined && now.getTime() - token.lastUsedAt.getTime() < LAST_USED_STEP_MS)
      return;
    this.#tokens.set(token.id, { ...token, lastUsedAt: now });
    if (token.source === 'made') this.#used.add(token.id);
  }
}

export function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** The public name of a made token: a part of its digest, so that a token that was found tells which one it is. */
export function tokenIdOf(digest: Buffer): string {
  return startOf(digest);
}

function startOf(digest: Buffer): string {
  return digest.toString('hex', 0, 8);
}
