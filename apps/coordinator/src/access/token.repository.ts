import { tokenRoleSchema } from '@broadside/shared';
import type { Store } from '../storage/store.js';
import type { KnownToken } from './token-registry.js';

/** Made tokens in the store: their digests, and who holds them. */
export class TokenRepository {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  async load(): Promise<KnownToken[]> {
    const rows = await this.#store.db.selectFrom('tokens').selectAll().execute();
    return rows.map((row) => ({
      id: row.id,
      name: row.name,
      role: tokenRoleSchema.parse(row.role),
      source: 'made',
      digest: row.digest,
      createdAt: row.created_at,
      expiresAt: row.expires_at ?? undefined,
      lastUsedAt: row.last_used_at ?? undefined,
      revokedAt: row.revoked_at ?? undefined,
    }));
  }

  async insert({ id, name, role, digest, createdAt, expiresAt }: KnownToken): Promise<void> {
    await this.#store.db
      .insertInto('tokens')
      .values({ id, name, role, digest, created_at: createdAt, expires_at: expiresAt ?? null })
      .execute();
  }

  async revoke(id: string, revokedAt: Date): Promise<void> {
    await this.#store.db.updateTable('tokens').set({ revoked_at: revokedAt }).where('id', '=', id).execute();
  }

  async touch(id: string, lastUsedAt: Date): Promise<void> {
    await this.#store.db
      .updateTable('tokens')
      .set({ last_used_at: lastUsedAt })
      .where('id', '=', id)
      .execute();
  }
}
