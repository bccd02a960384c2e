import { type Kysely, type Migration, sql } from 'kysely';

/** Who may do what: tokens, by their digests. */
export const accessMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      create table tokens (
        id text primary key,
        name text not null,
        role text not null,
        digest bytea not null unique,
        created_at timestamptz not null,
        expires_at timestamptz,
        last_used_at timestamptz,
        revoked_at timestamptz
      )`.execute(db);
  },
};
