import { type Kysely, type Migration, sql } from 'kysely';

/** How a run went, beside its report: a list of runs tells it without reading the reports, which are large. */
export const runSummariesMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table runs add column completed bigint, add column verdict text`.execute(db);
    await sql`
      update runs set
        completed = case when jsonb_typeof(report #> '{counters,completed}') = 'number'
          then (report #>> '{counters,completed}')::numeric::bigint end,
        verdict = report #>> '{verdict,outcome}'
      where report is not null`.execute(db);
  },
};
