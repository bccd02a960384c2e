/** The connections of a store, of whichever kind: `pg` pools with Kysely on top. */
import './navigator.js';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { migrate } from './migrate.js';
import { SCHEMA_VERSION } from './migrations/index.js';
import type { StoreSchema } from './schema.js';
import { within } from './within.js';

const POOL_SIZE = 10;
const END_TIMEOUT_MS = 5_000;

/** What queries of ours go through. */
export interface Database {
  readonly db: Kysely<StoreSchema>;
  readonly pool: pg.Pool;
}

/** All pools of one store, so that closing the store closes them. */
export class StorePools {
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

  createDatabase(): Database {
    const pool = this.create(POOL_SIZE);
    return { pool, db: new Kysely<StoreSchema>({ dialect: new PostgresDialect({ pool }) }) };
  }

  /** A connection that its user never gave back is not waited for; the database's end cuts it. */
  async end(): Promise<void> {
    const open = this.#pools.filter((pool) => !pool.ending);
    await within(END_TIMEOUT_MS, Promise.all(open.map((pool) => pool.end())));
  }
}

/** @param schemaVersion of a database that was made just now, which then need not be asked for it. */
export async function bringUpToDate({ db, pool }: Database, schemaVersion?: string): Promise<void> {
  if (schemaVersion !== SCHEMA_VERSION) await migrate(db, pool);
}
