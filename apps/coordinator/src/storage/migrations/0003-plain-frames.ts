import { type Kysely, type Migration, sql } from 'kysely';

/**
 * Frames are written much and hardly ever read, and varints leave little to compress: they are stored as they are,
 * and up to the size of a page in the row itself instead of in pieces in a second table.
 */
export const plainFramesMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table intervals alter column frame set storage external`.execute(db);
    await sql`alter table intervals set (toast_tuple_target = 8160)`.execute(db);
  },
};
