import type { Migration } from 'kysely';
import { runsMigration } from './0001-runs.js';
import { attemptsMigration } from './0002-attempts.js';
import { plainFramesMigration } from './0003-plain-frames.js';
import { accessMigration } from './0004-access.js';
import { auditMigration } from './0005-audit.js';
import { settingsMigration } from './0006-settings.js';
import { runSummariesMigration } from './0007-run-summaries.js';

/** All migrations by name, in the order of their names. Never change one that was released: add another. */
export const migrations: Readonly<Record<string, Migration>> = {
  '0001-runs': runsMigration,
  '0002-attempts': attemptsMigration,
  '0003-plain-frames': plainFramesMigration,
  '0004-access': accessMigration,
  '0005-audit': auditMigration,
  '0006-settings': settingsMigration,
  '0007-run-summaries': runSummariesMigration,
};

/** The name of the newest migration: the version of the schema that this code works with. */
export const SCHEMA_VERSION = newestOf(Object.keys(migrations));

function newestOf(names: readonly string[]): string {
  const newest = names.toSorted().at(-1);
  if (newest === undefined) throw new Error('there are no migrations');
  return newest;
}
