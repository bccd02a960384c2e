import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serverPoolConfig } from '../../apps/coordinator/dist/storage/server-connection.js';
import { ServerLock } from '../../apps/coordinator/dist/storage/server-lock.js';
import { PostgresServer } from '../support/postgres.js';
import { canRun } from '../support/programs.js';

const WAIT_MS = 800;
const TRIES = { timeout: 20_000 };

describe.runIf(canRun('postgres'))('the lock of a database', () => {
  let server: PostgresServer;

  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(async () => server.stop());

  const take = (): Promise<ServerLock> =>
    ServerLock.take(serverPoolConfig(server.url), 'postgres://here', WAIT_MS);
  const isRefused = (): Promise<boolean> =>
    take().then(
      async (lock) => lock.release().then(() => false),
      (error: unknown) => /postgres:\/\/here is in use by another coordinator/.test(String(error)),
    );

  it('keeps a second coordinator out until the first lets go', async () => {
    const first = await take();
    expect(await isRefused()).toBe(true);
    await first.release();
    const second = await take();
    await second.release();
  });

  it('is taken again when the server is back', async () => {
    const lock = await take();
    await server.crash();
    await server.restart();
    await expect.poll(isRefused, TRIES).toBe(true);
    expect(lock.whyGone()).toBeUndefined();
    await lock.release();
  });

  it('says that it is gone when another one has it instead', async () => {
    const lock = await take();
    const [other, admin] = [new pg.Client(server.url), new pg.Client(server.url)];
    await Promise.all([other.connect(), admin.connect()]);
    // Next in the row, so that it gets the lock in the instant in which the session of the first one ends.
    const held = "select classid, objid from pg_locks where locktype = 'advisory' and granted";
    const { classid, objid } = (await admin.query<{ classid: number; objid: number }>(held)).rows[0] ?? {};
    const others = other.query('select pg_advisory_lock($1, $2)', [classid, objid]);
    const holder = "select pid from pg_stat_activity where application_name = 'broadside coordinator'";
    await expect
      .poll(
        async () =>
          (await admin.query("select 1 from pg_locks where locktype = 'advisory' and not granted")).rowCount,
      )
      .toBe(1);
    await admin.query(`select pg_terminate_backend(pid) from (${holder}) as holders`);
    await others;
    await expect
      .poll(() => lock.whyGone(), TRIES)
      .toBe('another coordinator uses the database at postgres://here now');
    await lock.release();
    await Promise.all([other.end(), admin.end()]);
  });
});
