import type { LiveMessage, Shard } from '@broadside/shared';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { CoordinatorEvents } from '../events.js';
import type { RunChange } from './run.repository.js';
import { RunJournal } from './run-journal.js';
import type { RunServices } from './run-services.js';
import { ShardProgress } from './shard-progress.js';

/** A journal whose store refuses what `refuses` says. */
function setUp(refuses: (change: RunChange) => boolean) {
  const stored: RunChange[] = [];
  const told: LiveMessage[] = [];
  /** Indexes of the shards of each write. */
  const shardWrites: number[][] = [];
  const events = new CoordinatorEvents();
  events.on('live-message', (message) => told.push(message));
  const unused = (): never => {
    throw new Error('not part of this test');
  };
  const runs: RunServices['runs'] = {
    change: async (_runId, change) => {
      if (refuses(change)) throw new Error('No space left on device');
      stored.push(change);
    },
    insert: unused,
    insertShards: unused,
    changeShards: async (changes) => {
      shardWrites.push(changes.map(({ attempt }) => attempt.shardIndex));
    },
    list: unused,
    find: unused,
    failUnfinished: unused,
    loadUnfinished: unused,
    loadShards: unused,
  };
  const services = { runs, events, log: pino({ level: 'silent' }) };
  const journal = new RunJournal({ runId: 'r', services, describe: () => ({}) });
  journal.restore('closing');
  return { journal, stored, told, shardWrites };
}

function progressOf(shardIndex: number): ShardProgress {
  const shard: Pick<Shard, 'runId' | 'shardIndex' | 'attempt'> = { runId: 'r', shardIndex, attempt: 1 };
  // The journal asks only for its name and its change.
  return new ShardProgress(shard as Shard, 'a', 'a');
}

const end: RunChange = { state: 'failed', reason: 'because', endedAt: new Date(0) };

describe('the end of a run', () => {
  it('is stored before it is told', async () => {
    const { journal, stored, told } = setUp(() => false);
    await journal.end(end);
    expect(stored).toEqual([end]);
    expect(told).toMatchObject([{ kind: 'state', state: 'failed' }]);
    expect(journal.unstoredEnd).toBeUndefined();
  });

  it('is told and kept in memory when the store refuses everything', async () => {
    const { journal, stored, told } = setUp(() => true);
    await journal.end(end);
    await journal.settled();
    expect(stored).toEqual([]);
    expect(told).toMatchObject([{ kind: 'state', state: 'failed' }]);
    expect(journal.unstoredEnd).toEqual(end);
  });

  it('is stored without its report when the report is what the store refuses', async () => {
    const { journal, stored } = setUp((change) => 'report' in change);
    await journal.end({ ...end, report: undefined });
    await journal.settled();
    expect(stored).toEqual([end]);
  });
});

describe('the shards of a run', () => {
  it('are stored together when they change one after the other, and apart from what is noted between', async () => {
    const { journal, stored, shardWrites } = setUp(() => false);
    const order: string[] = [];
    const first = progressOf(0);
    for (const each of [first, progressOf(1), first]) journal.saveShard(each);
    journal.move('finished');
    void journal.settled().then(() => order.push(`${shardWrites.length} writes, ${stored.length} states`));
    journal.saveShard(progressOf(2));
    await journal.settled();
    expect(shardWrites).toEqual([[0, 1], [2]]);
    expect(order).toEqual(['1 writes, 1 states']);
  });

  it('are stored after what they follow from', async () => {
    const { journal, shardWrites } = setUp(() => false);
    let commit = (): void => undefined;
    journal.saveShard(progressOf(0));
    journal.storeAfter(
      new Promise((resolve) => {
        commit = resolve;
      }),
    );
    journal.saveShard(progressOf(1));
    await new Promise((resolve) => setImmediate(resolve));
    expect(shardWrites).toEqual([[0]]);
    commit();
    await journal.settled();
    expect(shardWrites).toEqual([[0], [1]]);
  });

  it('that change while a write is on its way go with the next', async () => {
    const { journal, shardWrites } = setUp(() => false);
    journal.saveShard(progressOf(0));
    await journal.settled();
    journal.saveShard(progressOf(1));
    await journal.settled();
    expect(shardWrites).toEqual([[0], [1]]);
  });
});
