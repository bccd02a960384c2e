/**
 * The one place that decides where the store lives: PostgreSQL inside this process (PGlite, nothing to
 * install) or a server. Everybody else gets ordinary `pg` pools and cannot tell. Imports nothing of Nest, so
 * the start can run beside Nest's imports.
 */
import type { Kysely } from 'kysely';
import type pg from 'pg';
import { TEMPLATE_DIR } from './cluster-template.js';
import { openDataDirectory, openEphemeralDirectory, sweepEphemeralDirectories } from './data-directory.js';
import { EmbeddedPostgres } from './embedded/embedded-postgres.js';
import type { StoreSchema } from './schema.js';
import type { StorePools } from './store-pools.js';

/** Far above any transaction of ours; see SessionSharingOptions. */
const IDLE_HOLD_MS = 30_000;

export interface StoreOptions {
  /** `postgres://…` of a server; without it the store is embedded. */
  readonly databaseUrl?: string;
  /** Where an embedded store is kept; `ephemeral` (the default) is a temporary directory. */
  readonly dataDir?: string;
  /** No other coordinator may use the database of the server at the same time; of a data directory nobody may. */
  readonly isExclusive?: boolean;
  /** Called when the embedded database dies after the start, or an idle connection to the server breaks. */
  readonly onError?: (error: Error) => void;
}

export interface Store {
  readonly kind: 'pglite' | 'postgres';
  readonly db: Kysely<StoreSchema>;
  readonly pool: pg.Pool;
  /** Why the store is lost whatever its connections say, in one line; undefined while it is where it was opened. */
  whyGone(): string | undefined;
  /** One more pool on the same database, closed with the store: BullMQ holds LISTEN connections for good. */
  createPool(maxConnections: number): pg.Pool;
  /** Idempotent. Ends all connections; an embedded store is shut down cleanly and its lock released. */
  close(): Promise<void>;
}

/**
 * Opens the store and brings its schema up to date.
 * @throws StoreError in one line: unreachable, refused, directory in use, or a newer schema.
 */
export async function openStore(options: StoreOptions = {}): Promise<Store> {
  const onError = options.onError ?? (() => undefined);
  return options.databaseUrl === undefined
    ? openEmbedded(options.dataDir ?? 'ephemeral', onError)
    : openServer(options.databaseUrl, options.isExclusive === true, onError);
}

async function openEmbedded(dataDir: string, onError: (error: Error) => void): Promise<Store> {
  const isEphemeral = dataDir === 'ephemeral';
  const directory = isEphemeral ? openEphemeralDirectory() : openDataDirectory(dataDir);
  const engine = EmbeddedPostgres.start(
    { directory: directory.path, templateDir: TEMPLATE_DIR, isEphemeral, idleHoldMs: IDLE_HOLD_MS },
    onError,
  );
  let pools: StorePools | undefined;
  const close = closeOnce(async () => {
    await pools?.end();
    await engine.close();
    directory.release();
  });
  try {
    // Only now, because the engine starts on its own thread while `pg` and Kysely come into memory.
    const [connections, { freshSchemaVersion }] = await Promise.all([
      import('./store-pools.js'),
      engine.ready,
    ]);
    pools = new connections.StorePools({ stream: () => engine.connect() }, onError);
    const whyGone = (): string | undefined =>
      directory.isThere() ? undefined : `the data directory ${directory.path} was removed or moved away`;
    const store = { ...assemble('pglite', pools, close), whyGone };
    await connections.bringUpToDate(store, freshSchemaVersion);
    // After the start and not before it: left-overs of others must not slow this one down.
    if (isEphemeral) sweepEphemeralDirectories().catch(onError);
    return store;
  } catch (error) {
    await close();
    throw error;
  }
}

async function openServer(
  databaseUrl: string,
  isExclusive: boolean,
  onError: (error: Error) => void,
): Promise<Store> {
  const [
    { assertReachable, describeServer, serverPoolConfig },
    { StorePools, bringUpToDate },
    { ServerLock },
  ] = await Promise.all([
    import('./server-connection.js'),
    import('./store-pools.js'),
    import('./server-lock.js'),
  ]);
  const config = serverPoolConfig(databaseUrl);
  await assertReachable(config, databaseUrl);
  const lock = isExclusive ? await ServerLock.take(config, describeServer(databaseUrl)) : undefined;
  const pools = new StorePools(config, onError);
  const close = closeOnce(async () => {
    await pools.end();
    await lock?.release();
  });
  try {
    const store = { ...assemble('postgres', pools, close), whyGone: () => lock?.whyGone() };
    await bringUpToDate(store);
    return store;
  } catch (error) {
    await close();
    throw error;
  }
}

function assemble(kind: Store['kind'], pools: StorePools, close: () => Promise<void>): Store {
  const { pool, db } = pools.createDatabase();
  const createPool = (maxConnections: number): pg.Pool => pools.create(maxConnections);
  return { kind, db, pool, whyGone: () => undefined, createPool, close };
}

function closeOnce(close: () => Promise<void>): () => Promise<void> {
  let closing: Promise<void> | undefined;
  return () => (closing ??= close());
}
