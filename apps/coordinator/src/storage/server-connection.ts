import pg from 'pg';
import { StoreError } from './store-error.js';

const CONNECT_TIMEOUT_MS = 10_000;
const MINIMUM_VERSION_NUMBER = 130_000;
const SEARCH_PATH = 'broadside,bullmq,public';

/**
 * How to reach the server of a `postgres://` address.
 * @throws StoreError when it is not one.
 */
export function serverPoolConfig(databaseUrl: string): pg.PoolConfig {
  const url = URL.canParse(databaseUrl) ? new URL(databaseUrl) : undefined;
  if (url === undefined || !/^postgres(ql)?:$/.test(url.protocol) || url.host === '') {
    // Not repeated here: a mistyped address may still hold a password.
    throw new StoreError('the database address must look like postgres://user@host:5432/name');
  }
  // An option in the address would replace ours, so ours joins it there.
  const asked = url.searchParams.get('options');
  url.searchParams.set('options', [asked, `-c search_path=${SEARCH_PATH}`].filter(Boolean).join(' '));
  return {
    connectionString: url.href,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    application_name: 'broadside',
  };
}

/** The address without user, password and options: for messages. */
export function describeServer(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  return `${url.protocol}//${url.host}${url.pathname}`;
}

/** @throws StoreError saying what is wrong with the server, where it is, and what to do. */
export async function assertReachable(config: pg.PoolConfig, databaseUrl: string): Promise<void> {
  const where = describeServer(databaseUrl);
  const client = new pg.Client(config);
  // A connection that breaks in mid-air also emits; the failure is reported by the awaited call.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ version: number }>(
      "select current_setting('server_version_num')::int as version",
    );
    const version = rows[0]?.version ?? 0;
    if (version < MINIMUM_VERSION_NUMBER) {
      throw new StoreError(
        `the database at ${where} is PostgreSQL ${Math.floor(version / 10_000)}; 13 or newer is needed`,
      );
    }
  } catch (error) {
    throw error instanceof StoreError ? error : explain(error, where);
  } finally {
    await client.end();
  }
}

function explain(error: unknown, where: string): StoreError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const known: Readonly<Record<string, string>> = {
    ECONNREFUSED: 'nothing listens there; start the server or correct the address',
    ENOTFOUND: 'the host name is unknown; correct the address',
    ETIMEDOUT: 'it does not answer; check the network and the address',
    '28P01': 'user or password is wrong',
    '28000': 'the server does not let this user in',
    '3D000': 'the database does not exist; create it first',
    '53300': 'it has no free connection',
    '57P03': 'it is still starting up; try again',
  };
  const reason = known[code] ?? (error instanceof Error ? error.message : String(error));
  return new StoreError(`cannot use the database at ${where}: ${reason}`, { cause: error });
}
