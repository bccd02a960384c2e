/** Build step: makes the template of cluster-template.ts. Run as `node dist/storage/build-template.js`. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { ensureQueueSchema } from '../queue/queue-schema.js';
import { CLUSTER_NAME, packCluster, TEMPLATE_DIR } from './cluster-template.js';
import { EmbeddedPostgres } from './embedded/embedded-postgres.js';
import { migrate } from './migrate.js';
import { SCHEMA_VERSION } from './migrations/index.js';
import type { StoreSchema } from './schema.js';

const IDLE_HOLD_MS = 30_000;

const folder = mkdtempSync(join(tmpdir(), 'broadside-template-'));
try {
  const clusterDir = join(folder, CLUSTER_NAME);
  await makeCluster(clusterDir);
  await applyMigrations(folder);
  rmSync(TEMPLATE_DIR, { recursive: true, force: true });
  const manifest = packCluster(clusterDir, TEMPLATE_DIR, SCHEMA_VERSION);
  const sizeBytes = manifest.files.reduce((sum, file) => sum + file.sizeBytes, 0);
  process.stdout.write(
    `store template: ${manifest.files.length} files, ${(sizeBytes / 1e6).toFixed(1)} MB\n`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** initdb, with 1 MB log segments, and without the two template databases that nobody here copies from. */
async function makeCluster(clusterDir: string): Promise<void> {
  const engine = await PGlite.create(clusterDir, { initDbStartParams: ['--wal-segsize=1'] });
  for (const name of ['template0', 'template1']) {
    await engine.exec(
      `update pg_database set datistemplate = false, datallowconn = false where datname = '${name}'`,
    );
    await engine.exec(`drop database ${name}`);
  }
  await engine.close();
}

async function applyMigrations(directory: string): Promise<void> {
  const engine = EmbeddedPostgres.start(
    { directory, templateDir: TEMPLATE_DIR, isEphemeral: false, idleHoldMs: IDLE_HOLD_MS },
    fail,
  );
  const pool = new pg.Pool({ stream: () => engine.connect(), max: 2 });
  try {
    await migrate(new Kysely<StoreSchema>({ dialect: new PostgresDialect({ pool }) }), pool);
    await ensureQueueSchema(pool);
    await pool.query('vacuum full');
    await pool.query('checkpoint');
  } finally {
    await pool.end();
    await engine.close();
  }
}

function fail(error: Error): void {
  throw error;
}
