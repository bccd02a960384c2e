// One suite for every place a store can live: whoever uses it must not be able to tell.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openStore, type Store } from '../../apps/coordinator/dist/storage/store.js';
import { PostgresServer } from '../support/postgres.js';
import { canRun } from '../support/programs.js';

interface Place {
  readonly name: string;
  readonly isAvailable: boolean;
  readonly kind: Store['kind'];
  /** Prepares the place once and returns how to open the store in it, every time the same one. */
  readonly prepare: () => Promise<{ open(): Promise<Store>; remove(): Promise<void> }>;
}

const places: readonly Place[] = [
  {
    name: 'embedded in a data directory',
    isAvailable: true,
    kind: 'pglite',
    prepare: async () => {
      const dataDir = await mkdtemp(join(tmpdir(), 'broadside-store-test-'));
      return {
        open: () => openStore({ dataDir }),
        remove: () => rm(dataDir, { recursive: true, force: true }),
      };
    },
  },
  {
    name: 'on a PostgreSQL server',
    isAvailable: canRun('initdb', 'postgres', 'psql'),
    kind: 'postgres',
    prepare: async () => {
      const server = await PostgresServer.start();
      return { open: () => openStore({ databaseUrl: server.url }), remove: () => server.stop() };
    },
  },
];

const run = (id: string) => ({ id, state: 'waiting', plan: '{"n":1}', created_at: new Date(1_000) });
const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);

if (!canRun('initdb', 'postgres', 'psql')) {
  process.stderr.write('PostgreSQL is not installed: the store is tested on the embedded one only\n');
}

describe.each(places)('a store $name', ({ isAvailable, kind, prepare }) => {
  describe.runIf(isAvailable)('and its user', () => {
    let place: Awaited<ReturnType<Place['prepare']>>;
    let store: Store;
    beforeAll(async () => {
      place = await prepare();
    });
    afterAll(() => place.remove());
    beforeEach(async () => {
      store = await place.open();
    });
    afterEach(async () => {
      await store.db.deleteFrom('runs').execute();
      await store.close();
    });

    it('keeps rows, times, documents and bytes over closing and opening', async () => {
      expect(store.kind).toBe(kind);
      await store.db.insertInto('runs').values(run('r')).execute();
      const shard = {
        run_id: 'r',
        shard_index: 0,
        attempt: 1,
        agent_id: 'a',
        agent_name: 'A',
        state: 'done',
      };
      await store.db
        .insertInto('shards')
        .values({ ...shard, shard: '{"k":[1]}', totals: bytes })
        .execute();
      const interval = { run_id: 'r', shard_index: 0, attempt: 1, number: 0, frame: bytes };
      await store.db.insertInto('intervals').values(interval).execute();
      await store.close();
      store = await place.open();
      const [row] = await store.db.selectFrom('runs').selectAll().execute();
      expect(row).toEqual({
        ...run('r'),
        plan: { n: 1 },
        started_at: null,
        ended_at: null,
        reason: null,
        report: null,
        notes: null,
        completed: null,
        verdict: null,
      });
      const kept = await store.db.selectFrom('shards').selectAll().executeTakeFirstOrThrow();
      expect(kept).toEqual({
        ...shard,
        shard: { k: [1] },
        totals: Buffer.from(bytes),
        fatal: null,
        group_number: 0,
        start_slice: null,
      });
      const frame = await store.db.selectFrom('intervals').select('frame').executeTakeFirstOrThrow();
      expect(frame.frame).toEqual(Buffer.from(bytes));
    });

    it('deletes the shards and intervals of a deleted run', async () => {
      await store.db
        .insertInto('runs')
        .values([run('r'), run('s')])
        .execute();
      for (const run_id of ['r', 's']) {
        const key = { run_id, shard_index: 0, attempt: 1 };
        await store.db
          .insertInto('shards')
          .values({ ...key, agent_id: 'a', agent_name: 'A', state: 'done', shard: '{}' })
          .execute();
        await store.db
          .insertInto('intervals')
          .values({ ...key, number: 0, frame: bytes })
          .execute();
      }
      await store.db.deleteFrom('runs').where('id', '=', 'r').execute();
      expect(await store.db.selectFrom('shards').select('run_id').execute()).toEqual([{ run_id: 's' }]);
      expect(await store.db.selectFrom('intervals').select('run_id').execute()).toEqual([{ run_id: 's' }]);
    });

    it('takes an interval once, however often and at once it is delivered', async () => {
      await store.db.insertInto('runs').values(run('r')).execute();
      const interval = { run_id: 'r', shard_index: 0, attempt: 1, number: 7, frame: bytes };
      const deliveries = Array.from({ length: 8 }, () =>
        store.db
          .insertInto('intervals')
          .values(interval)
          .onConflict((conflict) => conflict.doNothing())
          .executeTakeFirst(),
      );
      const results = await Promise.all(deliveries);
      expect(results.filter((result) => result.numInsertedOrUpdatedRows === 1n)).toHaveLength(1);
    });

    it('keeps concurrent transactions apart: 20 clients, 200 increments, none lost, none of a rollback', async () => {
      await store.db
        .insertInto('runs')
        .values({ ...run('r'), reason: '0' })
        .execute();
      const increment = (fails: boolean) =>
        store.db.transaction().execute(async (transaction) => {
          const query = transaction.selectFrom('runs').select('reason').where('id', '=', 'r').forUpdate();
          const { reason } = await query.executeTakeFirstOrThrow();
          // Time for others to come between, if anything lets them.
          await new Promise((resolve) => setImmediate(resolve));
          await transaction
            .updateTable('runs')
            .set({ reason: String(Number(reason) + 1) })
            .where('id', '=', 'r')
            .execute();
          if (fails) throw new Error('rolled back on purpose');
        });
      const client = async (): Promise<void> => {
        for (let step = 0; step < 10; step++) {
          await increment(false);
          await expect(increment(true)).rejects.toThrow('rolled back on purpose');
        }
      };
      await Promise.all(Array.from({ length: 20 }, () => client()));
      const { reason } = await store.db.selectFrom('runs').select('reason').executeTakeFirstOrThrow();
      expect(reason).toBe('200');
    });

    it('rolls back the transaction of a client that dies in it', async () => {
      await store.db.insertInto('runs').values(run('r')).execute();
      const client = await store.pool.connect();
      await client.query('begin');
      await client.query("delete from runs where id = 'r'");
      client.release(true);
      await expect
        .poll(async () => (await store.db.selectFrom('runs').select('id').execute()).length)
        .toBe(1);
    });

    it('gives a notification to every client that listens to its channel, and to no other', async () => {
      const clients = await Promise.all([1, 2, 3, 4].map(() => store.pool.connect()));
      const [first, second, other, sender] = clients;
      if (!first || !second || !other || !sender) throw new Error('four clients were asked for');
      const heard = new Map(clients.map((client) => [client, [] as (string | undefined)[]]));
      for (const client of clients) {
        client.on('notification', ({ channel, payload }) => heard.get(client)?.push(`${channel} ${payload}`));
      }
      await Promise.all([first.query('listen news'), second.query('-- why\nLISTEN "news";')]);
      await other.query('listen others');
      await sender.query("select pg_notify('news', $1)", ['one']);
      await expect.poll(() => [heard.get(first), heard.get(second)]).toEqual([['news one'], ['news one']]);
      await first.query('unlisten news');
      await sender.query('begin');
      await sender.query("notify news, 'two'");
      await sender.query('select 1');
      expect(heard.get(second)).toEqual(['news one']);
      await sender.query('commit');
      await expect.poll(() => heard.get(second)).toEqual(['news one', 'news two']);
      await Promise.all(clients.map((client) => client.query('select 1')));
      expect([heard.get(first), heard.get(other), heard.get(sender)]).toEqual([['news one'], [], []]);
      for (const client of clients) client.release(true);
    });

    it('keeps prepared statements of the same name apart', async () => {
      const [first, second] = await Promise.all([store.pool.connect(), store.pool.connect()]);
      const one = { name: 'find', text: 'select 1 as value' };
      const two = { name: 'find', text: 'select $1::int as value', values: [2] };
      for (let round = 0; round < 2; round++) {
        expect((await first.query(one)).rows).toEqual([{ value: 1 }]);
        expect((await second.query(two)).rows).toEqual([{ value: 2 }]);
      }
      first.release(true);
      second.release(true);
      const third = await store.pool.connect();
      expect((await third.query(two)).rows).toEqual([{ value: 2 }]);
      third.release();
    });

    it('carries on after errors of every kind', async () => {
      await expect(store.pool.query('selec')).rejects.toThrow('syntax error');
      await expect(store.pool.query('select $1::int', ['x'])).rejects.toThrow('invalid input syntax');
      await expect(store.pool.query("insert into shards (run_id) values ('none')")).rejects.toThrow(
        'not-null',
      );
      await expect(store.pool.query('select 1; select 1/0')).rejects.toThrow('division by zero');
      expect((await store.pool.query('select 1 as fine')).rows).toEqual([{ fine: 1 }]);
    });

    it('carries frames of a mebibyte', async () => {
      await store.db.insertInto('runs').values(run('r')).execute();
      const frame = Buffer.alloc(1_048_576, 7);
      const key = { run_id: 'r', shard_index: 0, attempt: 1 };
      const numbers = [0, 1, 2, 3, 4, 5, 6, 7];
      await Promise.all(
        numbers.map((number) =>
          store.db
            .insertInto('intervals')
            .values({ ...key, number, frame })
            .execute(),
        ),
      );
      const rows = await store.db.selectFrom('intervals').selectAll().orderBy('number').execute();
      expect(rows.map((row) => [row.number, frame.equals(row.frame)])).toEqual(numbers.map((n) => [n, true]));
    });

    it('closes twice as once, also with a connection that was never given back', async () => {
      const client = await store.pool.connect();
      expect((await client.query('select 1 as fine')).rows).toEqual([{ fine: 1 }]);
      await Promise.all([store.close(), store.close()]);
      await expect(store.pool.query('select 1')).rejects.toThrow('after calling end');
      store = await place.open();
    });
  });
});

describe.runIf(canRun('initdb', 'postgres'))('a store on a server that crashes', () => {
  it('fails what was under way, reports it, and works again when the server is back', async () => {
    const server = await PostgresServer.start();
    const errors: Error[] = [];
    const store = await openStore({ databaseUrl: server.url, onError: (error) => errors.push(error) });
    try {
      await store.db.insertInto('runs').values(run('r')).execute();
      const broken = store.db.transaction().execute(async (transaction) => {
        await transaction.deleteFrom('runs').execute();
        await server.crash();
        await transaction.selectFrom('runs').selectAll().execute();
      });
      await expect(broken).rejects.toThrow(/terminat|not queryable/);
      await server.restart();
      await expect
        .poll(async () =>
          store.db
            .selectFrom('runs')
            .select('id')
            .execute()
            .catch(() => 'not yet'),
        )
        .toEqual([{ id: 'r' }]);
      expect(errors.length).toBeGreaterThan(0);
    } finally {
      await store.close();
      await server.stop();
    }
  });
});

describe.runIf(canRun('initdb', 'postgres'))('an empty database on a server', () => {
  it('is migrated once when five coordinators start on it at once', async () => {
    const server = await PostgresServer.start();
    try {
      const stores = await Promise.all([1, 2, 3, 4, 5].map(() => openStore({ databaseUrl: server.url })));
      const versions = await stores[0]?.pool.query('select name from broadside.kysely_migration');
      expect(versions?.rows).toEqual([
        { name: '0001-runs' },
        { name: '0002-attempts' },
        { name: '0003-plain-frames' },
        { name: '0004-access' },
        { name: '0005-audit' },
        { name: '0006-settings' },
        { name: '0007-run-summaries' },
      ]);
      await Promise.all(stores.map((store) => store.close()));
    } finally {
      await server.stop();
    }
  });
});

describe('a store that cannot be opened', () => {
  it('says that nothing listens at the address, without the password in it', async () => {
    const opening = openStore({ databaseUrl: 'postgres://me:secret@127.0.0.1:1/runs' });
    const message =
      'cannot use the database at postgres://127.0.0.1:1/runs: nothing listens there; ' +
      'start the server or correct the address';
    await expect(opening).rejects.toThrow(message);
  });

  it.runIf(canRun('initdb', 'postgres'))('says that the database does not exist', async () => {
    const server = await PostgresServer.start();
    try {
      const databaseUrl = server.url.replace(/postgres$/, 'nowhere');
      await expect(openStore({ databaseUrl })).rejects.toThrow(
        'the database does not exist; create it first',
      );
    } finally {
      await server.stop();
    }
  });

  it('refuses a store that a newer Broadside has migrated', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'broadside-store-test-'));
    try {
      const store = await openStore({ dataDir });
      await store.pool.query("insert into kysely_migration (name, timestamp) values ('9999-later', '')");
      await store.close();
      await expect(openStore({ dataDir })).rejects.toThrow('use the newer Broadside, or another store');
    } finally {
      await rm(dataDir, { recursive: true, force: true });
    }
  });
});
