import { LATEST_SCHEMA_VERSION, runMigrations } from 'bullmq';
import type pg from 'pg';

/**
 * Brings BullMQ's own tables (schema `bullmq`) to the version of the installed BullMQ; one question when
 * they are there already. BullMQ's migrator serialises itself over all processes.
 */
export async function ensureQueueSchema(pool: pg.Pool): Promise<void> {
  const exists = await pool.query<{ found: boolean }>(
    "select to_regclass('bullmq.migration') is not null as found",
  );
  if (exists.rows[0]?.found === true) {
    const newest = await pool.query<{ version: number }>(
      'select coalesce(max(version), 0)::int as version from bullmq.migration',
    );
    if ((newest.rows[0]?.version ?? 0) >= LATEST_SCHEMA_VERSION) return;
  }
  const client = await pool.connect();
  try {
    await runMigrations(client);
  } finally {
    client.release();
  }
}
