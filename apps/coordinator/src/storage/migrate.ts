import { type Kysely, Migrator } from 'kysely';
import type pg from 'pg';
import { migrations, SCHEMA_VERSION } from './migrations/index.js';
import type { StoreSchema } from './schema.js';
import { StoreError } from './store-error.js';

/** Our tables live apart from BullMQ's (schema `bullmq`), so one database can hold both. */
const STORE_SCHEMA = 'broadside';

/** Any number that no other program uses for an advisory lock in the same database. */
const MIGRATION_LOCK_KEY = 0x62_72_6f_61;

/**
 * Brings the database to `SCHEMA_VERSION`; one cheap question when it is there already. Safe when several
 * coordinators start at once: one migrates, the others wait.
 * @throws StoreError when the database was made by a newer Broadside, or a migration fails.
 */
export async function migrate(db: Kysely<StoreSchema>, pool: pg.Pool): Promise<void> {
  const current = await schemaVersionOf(pool);
  if (current === SCHEMA_VERSION) return;
  if (current !== undefined && current > SCHEMA_VERSION) {
    throw new StoreError(
      `the store has schema ${current}, which is newer than this Broadside's ${SCHEMA_VERSION}; ` +
        'use the newer Broadside, or another store',
    );
  }
  // Kysely's migrator locks its own table only; two first starts would meet in `create schema` before that.
  const client = await pool.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK_KEY]);
    await client.query(`create schema if not exists ${STORE_SCHEMA}`);
    await migrateToLatest(db);
  } finally {
    await unlock(client);
  }
}

/** A connection that cannot say so any more is dropped, and on a server its lock goes with it. */
async function unlock(client: pg.PoolClient): Promise<void> {
  await client.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK_KEY]).then(
    () => client.release(),
    () => client.release(true),
  );
}

async function migrateToLatest(db: Kysely<StoreSchema>): Promise<void> {
  const migrator = new Migrator({
    db,
    provider: { getMigrations: () => Promise.resolve({ ...migrations }) },
    migrationTableSchema: STORE_SCHEMA,
  });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) {
    throw new StoreError('the store could not be brought to the current schema', { cause: error });
  }
}

/** The newest migration that the database has seen, undefined for an empty database. */
async function schemaVersionOf(pool: pg.Pool): Promise<string | undefined> {
  const exists = await pool.query<{ found: boolean }>('select to_regclass($1) is not null as found', [
    `${STORE_SCHEMA}.kysely_migration`,
  ]);
  if (exists.rows[0]?.found !== true) return undefined;
  const newest = await pool.query<{ name: string }>(
    `select name from ${STORE_SCHEMA}.kysely_migration order by name desc limit 1`,
  );
  return newest.rows[0]?.name;
}
