import { type Kysely, type Migration, sql } from 'kysely';

/** What the coordinator itself has to remember beyond its runs, one document per name. */
export const settingsMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create table settings (name text primary key, value jsonb not null)`.execute(db);
  },
};
