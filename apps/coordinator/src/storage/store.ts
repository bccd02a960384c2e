/**
 * The one place that decides where the store lives: PostgreSQL inside this process (PGlite, nothing to
 * install) or a server. Everybody else gets ordinary `pg` pools and cannot tell. Imports nothing of Nest, so
 * the start can run beside Nest's imports.
 */
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { TEMPLATE_DIR } from './cluster-template.js';
import { openDataDirectory, openEphemeralDirectory, sweepEphemeralDirectories } from './data-directory.js';
import { EmbeddedPostgres } from './embedded/embedded-postgres.js';
import { migrate } from './migrate.js';
import { SCHEMA_VERSION } from './migrations/index.js';
import type { StoreSchema } from './schema.js';
import { assertReachable, serverPoolConfig } from './server-connection.js';
import { within } from './within.js';

const POOL_SIZE = 10;
const END_TIMEOUT_MS = 5_000;
/** Far above any transaction of ours; see SessionSharingOptions. */
const IDLE_HOLD_MS = 30_000;

export interface StoreOptions {
  /** `postgres://…` of a server; without it the store is embedded. */
  readonly databaseUrl?: string;
  /** Where an embedded store is kept; `ephemeral` (the default) is a temporary directory. */
  readonly dataDir?: string;
  /** Called when the embedded database dies after the start, or an idle connection to the server breaks. */
  readonly onError?: (error: Error) => void;
}

export interface Store {
  readonly kind: 'pglite' | 'postgres';
  readonly db: Kysely<StoreSchema>;
  readonly pool: pg.Pool;
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
    : openServer(options.databaseUrl, onError);
}

async function openEmbedded(dataDir: string, onError: (error: Error) => void): Promise<Store> {
  const isEphemeral = dataDir === 'ephemeral';
  const directory = isEphemeral ? openEphemeralDirectory() : openDataDirectory(dataDir);
  const engine = EmbeddedPostgres.start(
    { directory: directory.path, templateDir: TEMPLATE_DIR, isEphemeral, idleHoldMs: IDLE_HOLD_MS },
    onError,
  );
  const pools = new Pools({ stream: () => engine.connect() }, onError);
  const close = closeOnce(async () => {
    await pools.end();
    await engine.close();
    directory.release();
  });
  try {
    const { freshSchemaVersion } = await engine.ready;
    const store = assemble('pglite', pools, close);
    if (freshSchemaVersion !== SCHEMA_VERSION) await migrate(store.db, store.pool);
    // After the start and not before it: left-overs of others must not slow this one down.
    if (isEphemeral) sweepEphemeralDirectories().catch(onError);
    return store;
  } catch (error) {
    await close();
    throw error;
  }
}

async function openServer(databaseUrl: string, onError: (error: Error) => void): Promise<Store> {
  const config = serverPoolConfig(databaseUrl);
  await assertReachable(config, databaseUrl);
  const pools = new Pools(config, onError);
  const close = closeOnce(() => pools.end());
  try {
    const store = assemble('postgres', pools, close);
    await migrate(store.db, store.pool);
    return store;
  } catch (error) {
    await close();
    throw error;
  }
}

function assemble(kind: Store['kind'], pools: Pools, close: () => Promise<void>): Store {
  const pool = pools.create(POOL_SIZE);
  const db = new Kysely<StoreSchema>({ dialect: new PostgresDialect({ pool }) });
  return { kind, db, pool, createPool: (maxConnections) => pools.create(maxConnections), close };
}

/** All pools of one store, so that closing the store closes them. */
class Pools {
  readonly #config: pg.PoolConfig;
  readonly #onError: (error: Error) => void;
  readonly #pools: pg.Pool[] = [];

  constructor(config: pg.PoolConfig, onError: (error: Error) => void) {
    this.#config = config;
    this.#onError = onError;
  }

  create(maxConnections: number): pg.Pool {
    const pool = new pg.Pool({ ...this.#config, max: maxConnections });
    // An idle connection that breaks is replaced at the next query; without a listener it ends the process.
    pool.on('error', this.#onError);
    // The same holds while a connection is lent out, where the pool does not listen for its borrower.
    pool.on('connect', (client) => client.on('error', this.#onError));
    this.#pools.push(pool);
    return pool;
  }

  /** A connection that its user never gave back is not waited for; the database's end cuts it. */
  async end(): Promise<void> {
    const open = this.#pools.filter((pool) => !pool.ending);
    await within(END_TIMEOUT_MS, Promise.all(open.map((pool) => pool.end())));
  }
}

function closeOnce(close: () => Promise<void>): () => Promise<void> {
  let closing: Promise<void> | undefined;
  return () => (closing ??= close());
}
