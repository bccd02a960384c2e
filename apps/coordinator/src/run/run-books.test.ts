import {
  COUNTER,
  type CoordinatorMessage,
  GAUGE_NAMES,
  HISTOGRAM_NAMES,
  Histogram,
  type Interval,
  type LiveMessage,
  newCounters,
  parsePlan,
  splitPlan,
} from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import { RunBooks } from './run-books.js';
import { ShardProgress } from './shard-progress.js';

/** Books whose store commits when the test says so. */
function setUp(shardCount = 1) {
  const parsed = parsePlan({ target: 'http://127.0.0.1/', requests: 10, connections: 2 });
  if (!parsed.ok) throw new Error('the plan of the test is not valid');
  const shards = splitPlan(parsed.plan, 'r', shardCount).map(
    (shard) => new ShardProgress(shard, 'a', 'agent-a'),
  );
  const [progress] = shards;
  if (progress === undefined) throw new Error('no shard');
  const writes: { commit: () => void; fail: (error: Error) => void }[] = [];
  const sent: CoordinatorMessage[] = [];
  const published: LiveMessage[] = [];
  const books = new RunBooks({
    runId: 'r',
    shardCount,
    expectedSeconds: undefined,
    write: () => new Promise((commit, fail) => writes.push({ commit, fail })),
    send: (_agentId, message) => sent.push(message),
    publish: (message) => published.push(message),
    onSettled: () => undefined,
  });
  return { books, progress, shards, writes, sent, published };
}

function intervalOf(number: number, isLast = false): Interval {
  const counters = newCounters();
  counters[COUNTER.completed] = 5;
  return {
    runId: 'r',
    shardIndex: 0,
    attempt: 1,
    number,
    span: 1,
    isLast,
    counters,
    statusCounts: new Map(),
    histograms: HISTOGRAM_NAMES.map(() => new Histogram().toSparse()),
    gauges: new Float64Array(GAUGE_NAMES.length),
  };
}

const frame = Buffer.from('frame');
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the books of a run', () => {
  it('acknowledge an interval only when it is committed', async () => {
    const { books, progress, writes, sent } = setUp();
    expect(books.take(progress, intervalOf(0), frame)).toBe(true);
    await nextTurn();
    expect(sent).toEqual([]);
    expect(books.isSettled).toBe(false);
    writes[0]?.commit();
    await nextTurn();
    expect(sent).toEqual([{ kind: 'ack', shard: progress.attempt, number: 0 }]);
    expect(books.isSettled).toBe(true);
  });

  it('are settled when everything that had arrived is committed or refused, whatever comes then', async () => {
    const { books, progress, writes } = setUp();
    books.take(progress, intervalOf(0), frame);
    books.take(progress, intervalOf(1), frame);
    let isSettled = false;
    const settled = books.settled().then(() => {
      isSettled = true;
    });
    books.take(progress, intervalOf(2), frame);
    writes[0]?.commit();
    await nextTurn();
    expect(isSettled).toBe(false);
    writes[1]?.fail(new Error('No space left on device'));
    await settled;
    expect(books.isSettled).toBe(false);
    expect(books.problems).toHaveLength(1);
  });

  it('close an attempt by its totals while frames of others are being stored', async () => {
    const { books, progress, shards, writes } = setUp(2);
    const [, other] = shards;
    if (other === undefined) throw new Error('no shard');
    const first = intervalOf(0);
    books.take(progress, first, frame);
    books.take(other, { ...intervalOf(0), shardIndex: 1 }, frame);
    const { counters, statusCounts, histograms, gauges } = first;
    progress.totals = { ...progress.attempt, intervals: 2, counters, statusCounts, histograms, gauges };
    const closing = books.closeByTotals(progress, async function* () {
      await nextTurn();
      yield first;
    });
    writes[0]?.commit();
    expect(await closing).toMatchObject({ number: 1, span: 1, isLast: true });
  });

  it('never acknowledge beyond a gap', async () => {
    const { books, progress, writes, sent } = setUp();
    books.take(progress, intervalOf(1, true), frame);
    writes[0]?.commit();
    await nextTurn();
    expect(sent).toEqual([]);
    books.take(progress, intervalOf(0), frame);
    writes[1]?.commit();
    await nextTurn();
    expect(sent.at(-1)).toMatchObject({ kind: 'ack', number: 1 });
    expect(books.isDelivered(progress)).toBe(true);
  });

  it('count and store a duplicate once, and acknowledge it again', async () => {
    const { books, progress, writes, sent } = setUp();
    books.take(progress, intervalOf(0), frame);
    writes[0]?.commit();
    await nextTurn();
    expect(books.take(progress, intervalOf(0), frame)).toBe(false);
    expect(writes).toHaveLength(1);
    expect(sent).toHaveLength(2);
    expect(books.totals.counter('completed')).toBe(5);
  });

  it('note what the store did not take, and leave it unacknowledged', async () => {
    const { books, progress, writes, sent } = setUp();
    books.take(progress, intervalOf(0, true), frame);
    writes[0]?.fail(new Error('the disk is full'));
    await nextTurn();
    expect(sent).toEqual([]);
    expect(books.problems).toEqual(['shard 0 (attempt 1, agent agent-a): interval 0 could not be stored']);
  });

  it('show each second with the sum up to it', () => {
    const { books, progress, published } = setUp();
    books.take(progress, intervalOf(0), frame);
    books.take(progress, intervalOf(1, true), frame);
    expect(published.map((message) => message.kind === 'second' && message.total.completed)).toEqual([5, 10]);
  });
});
