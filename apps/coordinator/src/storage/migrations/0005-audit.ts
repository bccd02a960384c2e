import { type Kysely, type Migration, sql } from 'kysely';

/** Who did what. Rows are added, and the oldest are taken away; none is ever changed, whoever tries. */
export const auditMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      create table audit (
        id bigint generated always as identity primary key,
        at timestamptz not null,
        action text not null,
        token_id text,
        token_name text,
        role text,
        address text not null,
        subject text,
        result text not null,
        detail jsonb not null,
        count integer not null
      )`.execute(db);
    await sql`
      create function refuse_change() returns trigger language plpgsql as
      $$ begin raise exception 'the audit log is not changed'; end $$`.execute(db);
    await sql`
      create trigger audit_is_kept before update on audit
      for each statement execute function refuse_change()`.execute(db);
  },
};
