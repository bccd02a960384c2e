import { type Kysely, type Migration, sql } from 'kysely';

/** Runs, the attempts at their shards, and their interval frames; deleting a run deletes all of it. */
export const runsMigration: Migration = {
  // `unknown`, because a migration must not change when the types of today's schema do.
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      create table runs (
        id text primary key,
        state text not null,
        plan jsonb not null,
        created_at timestamptz not null,
        started_at timestamptz,
        ended_at timestamptz,
        reason text,
        report jsonb
      )`.execute(db);
    await sql`create index runs_created_at on runs (created_at)`.execute(db);
    await sql`
      create table shards (
        run_id text not null references runs (id) on delete cascade,
        shard_index integer not null,
        attempt integer not null,
        agent_id text not null,
        agent_name text not null,
        state text not null,
        shard jsonb not null,
        totals bytea,
        fatal jsonb,
        primary key (run_id, shard_index, attempt)
      )`.execute(db);
    await sql`
      create table intervals (
        run_id text not null references runs (id) on delete cascade,
        shard_index integer not null,
        attempt integer not null,
        number integer not null,
        frame bytea not null,
        primary key (run_id, shard_index, attempt, number)
      )`.execute(db);
  },
};
