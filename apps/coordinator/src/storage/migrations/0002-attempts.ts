import { type Kysely, type Migration, sql } from 'kysely';

/** What a restarted coordinator needs to go on with a run: its notes, and the place of each later attempt. */
export const attemptsMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table runs add column notes jsonb`.execute(db);
    await sql`
      alter table shards
        add column group_number integer not null default 0,
        add column start_slice integer`.execute(db);
  },
};
