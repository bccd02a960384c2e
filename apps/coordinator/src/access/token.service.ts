import { randomBytes } from 'node:crypto';
import {
  BroadsideError,
  type CreatedToken,
  type CreateToken,
  LIMITS,
  TOKEN_SECRET_BYTES,
  type TokenRole,
  type TokenSummary,
  tokenKindOf,
  tokenTextOf,
} from '@broadside/shared';
import type { Logger } from 'pino';
import type { CoordinatorEvents } from '../events.js';
import { UNNAMED } from './principal.js';
import type { TokenRepository } from './token.repository.js';
import { digestOf, type TokenRegistry, tokenIdOf } from './token-registry.js';

export interface TokenServiceParts {
  readonly registry: TokenRegistry;
  readonly repository: TokenRepository;
  readonly events: CoordinatorEvents;
  readonly now: () => Date;
  readonly log: Logger;
}

/** How soon the end of a token reaches those who are connected with it. */
const SWEEP_MS = 1_000;

/** Makes, lists and revokes tokens. */
export class TokenService {
  readonly #parts: TokenServiceParts;
  #sweep: NodeJS.Timeout | undefined;

  constructor(parts: TokenServiceParts) {
    this.#parts = parts;
  }

  /** Takes in what earlier coordinators made; from then on tokens end in time. */
  async open(): Promise<void> {
    const { registry, repository } = this.#parts;
    for (const token of await repository.load()) registry.add(token);
    registry.takeExpired();
    this.#sweep = setInterval(() => this.#endExpired(), SWEEP_MS);
  }

  /** @throws BroadsideError `conflict` when it would shut everybody out, or there are too many. */
  async create({ name, role, expiresInMs }: CreateToken): Promise<CreatedToken> {
    const { registry } = this.#parts;
    if (registry.size >= LIMITS.maxTokens) {
      throw new BroadsideError(
        'conflict',
        `there are ${registry.size} tokens already, the ended ones included`,
      );
    }
    if ((role === 'viewer' || role === 'operator') && !registry.hasAdmin) {
      throw new BroadsideError(
        'conflict',
        'the first token for people must have the role admin, because from then on everybody needs one',
        { hint: 'make that one first' },
      );
    }
    return await this.#keep({ name, role, expiresInMs }, newTokenText(role));
  }

  /** @param deliver hands it over before it is stored: a token that nobody got would shut everybody out. */
  async createFirstAdmin(deliver: (token: string) => Promise<void>): Promise<void> {
    const token = newTokenText('admin');
    await deliver(token);
    await this.#keep({ name: 'first admin', role: 'admin' }, token);
  }

  list(): TokenSummary[] {
    return this.#parts.registry.summaries();
  }

  /**
   * Ends a token at once, for those too who are connected with it.
   * @throws BroadsideError `notFound`, or `conflict` for one that cannot be revoked here.
   */
  async revoke(id: string): Promise<TokenSummary> {
    const { registry, repository, events, now } = this.#parts;
    const token = registry.get(id);
    if (token === undefined) throw new BroadsideError('notFound', `there is no token ${id}`);
    if (token.source === 'given') {
      throw new BroadsideError('conflict', `token ${id} was given to the coordinator at its start`, {
        hint: 'start it without that one',
      });
    }
    if (registry.isLastAdmin(id)) {
      throw new BroadsideError('conflict', `token ${id} is the last one with the role admin`, {
        hint: 'make another one first',
      });
    }
    const revokedAt = token.revokedAt ?? now();
    // Before it is stored, because it must end even where the store does not answer.
    registry.revoke(id, revokedAt);
    events.emit('token-ended', { tokenId: id, reason: 'its token was revoked' });
    await repository.revoke(id, revokedAt);
    return registry.summaryOf({ ...token, revokedAt });
  }

  async #keep({ name, role, expiresInMs }: CreateToken, token: string): Promise<CreatedToken> {
    const { registry, repository, events, now } = this.#parts;
    const digest = digestOf(token);
    const createdAt = now();
    const expiresAt = expiresInMs === undefined ? undefined : new Date(createdAt.getTime() + expiresInMs);
    const made = { id: tokenIdOf(digest), name, role, source: 'made', digest, createdAt, expiresAt } as const;
    await repository.insert(made);
    const wasOpen = !registry.guardsPeople;
    registry.add(made);
    if (wasOpen && registry.guardsPeople) {
      events.emit('token-ended', { tokenId: UNNAMED.tokenId, reason: 'from now on a token is needed' });
    }
    return { ...registry.summaryOf(made), token };
  }

  async close(): Promise<void> {
    clearInterval(this.#sweep);
    await this.#storeUses();
  }

  #endExpired(): void {
    const { registry, events } = this.#parts;
    for (const tokenId of registry.takeExpired()) {
      events.emit('token-ended', { tokenId, reason: 'its token has expired' });
    }
    void this.#storeUses();
  }

  /** Never rejects: when a token was last used is no reason to stop anything. */
  async #storeUses(): Promise<void> {
    const { registry, repository, log } = this.#parts;
    try {
      for (const { id, lastUsedAt } of registry.takeUsed()) await repository.touch(id, lastUsedAt);
    } catch (error) {
      log.warn({ err: error }, 'when tokens were last used could not be stored');
    }
  }
}

function newTokenText(role: TokenRole): string {
  return tokenTextOf(tokenKindOf(role), randomBytes(TOKEN_SECRET_BYTES));
}
