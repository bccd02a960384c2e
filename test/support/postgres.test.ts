import { describe, expect, it } from 'vitest';
import { PostgresServer } from './postgres.js';
import { canRun } from './programs.js';

describe.runIf(canRun('initdb', 'postgres', 'psql'))('PostgresServer', () => {
  it('keeps committed rows through a crash and a restart', async () => {
    const postgres = await PostgresServer.start();
    try {
      await postgres.query('create table broadsides (guns integer)');
      await postgres.query('insert into broadsides values (32), (74)');
      await postgres.crash();
      await expect(postgres.query('select 1')).rejects.toThrow('refused');
      await postgres.restart();
      expect(await postgres.query('select guns from broadsides order by guns')).toBe('32\n74');
    } finally {
      await postgres.stop();
    }
    await expect(postgres.query('select 1')).rejects.toThrow('refused');
  });
});
