import { type CoordinatorMessage, LIMITS } from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import { AckBundle } from './ack-bundle.js';

const shard = (shardIndex: number) => ({ runId: 'r', shardIndex, attempt: 1 });
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('acknowledgements of one turn', () => {
  it('are one message, and of one attempt only the newest', async () => {
    const sent: CoordinatorMessage[] = [];
    const bundle = new AckBundle((message) => sent.push(message));
    bundle.add({ kind: 'ack', shard: shard(0), number: 4 });
    bundle.add({ kind: 'ack', shard: shard(1), number: 7 });
    bundle.add({ kind: 'ack', shard: shard(0), number: 5 });
    bundle.add({ kind: 'ack', shard: shard(0), number: 3 });
    expect(sent).toEqual([]);
    await nextTurn();
    const acks = [
      { shard: shard(0), number: 5 },
      { shard: shard(1), number: 7 },
    ];
    expect(sent).toEqual([{ kind: 'acks', acks }]);
  });

  it('are said as they are when there is only one', async () => {
    const sent: CoordinatorMessage[] = [];
    const bundle = new AckBundle((message) => sent.push(message));
    for (const number of [0, 1]) {
      bundle.add({ kind: 'ack', shard: shard(0), number });
      await nextTurn();
    }
    expect(sent).toEqual([0, 1].map((number) => ({ kind: 'ack', shard: shard(0), number })));
  });

  it('never become more than a message may hold', async () => {
    const sizes: number[] = [];
    const bundle = new AckBundle((message) => {
      sizes.push(message.kind === 'acks' ? message.acks.length : 1);
    });
    for (let i = 0; i < LIMITS.maxBundledFrames + 2; i++) {
      bundle.add({ kind: 'ack', shard: shard(i), number: 0 });
    }
    await nextTurn();
    expect(sizes).toEqual([LIMITS.maxBundledFrames, 2]);
  });
});
