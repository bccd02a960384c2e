import { LIMITS } from '@broadside/shared';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { IntervalRepository } from '../../apps/coordinator/dist/interval/interval.repository.js';
import { keptRuns, OldRuns } from '../../apps/coordinator/dist/run/old-runs.js';
import { openStore, type Store } from '../../apps/coordinator/dist/storage/store.js';
import { StorePatience } from '../../apps/coordinator/dist/storage/store-patience.js';

const log = pino({ level: 'silent' });

describe('old runs', () => {
  let store: Store;
  beforeEach(async () => {
    store = await openStore();
    const frames = new IntervalRepository(store, new StorePatience({ log }));
    for (let i = 0; i < 6; i++) {
      const state = i === 0 ? 'running' : 'finished';
      const created_at = new Date(1_000 * i);
      await store.db
        .insertInto('runs')
        .values({ id: `r${i}`, state, plan: '{}', created_at })
        .execute();
      await frames.append([
        { runId: `r${i}`, shardIndex: 0, attempt: 1, number: 0, frame: new Uint8Array(9_000).fill(i) },
      ]);
    }
  });
  afterEach(() => store.close());

  async function left(): Promise<{ runs: string[]; frames: string[] }> {
    const runs = await store.db.selectFrom('runs').select('id').orderBy('id').execute();
    const frames = await store.db.selectFrom('intervals').select('run_id').orderBy('run_id').execute();
    return { runs: runs.map(({ id }) => id), frames: frames.map((row) => row.run_id) };
  }

  it('lose their frames first and are forgotten later; one that goes on is never touched', async () => {
    await new OldRuns(store, log, { reports: 3, frames: 1 }).forget();
    expect(await left()).toEqual({ runs: ['r0', 'r3', 'r4', 'r5'], frames: ['r0', 'r5'] });
  });

  it('are as many as somebody wants, their frames never more than of the newest 20', async () => {
    expect(keptRuns(5_000)).toEqual({ reports: 5_000, frames: LIMITS.maxRunsWithFrames });
    await new OldRuns(store, log, keptRuns(2)).forget();
    expect(await left()).toEqual({ runs: ['r0', 'r4', 'r5'], frames: ['r0', 'r4', 'r5'] });
  });

  it('stay while there are few', async () => {
    await new OldRuns(store, log, keptRuns(LIMITS.defaultKeptRuns)).forget();
    expect((await left()).runs).toHaveLength(6);
    expect((await left()).frames).toHaveLength(6);
  });
});
