import type { Shard } from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import { RawTarget, reply } from '../testing/raw-target.js';
import { runShardAgainst, shardFor } from '../testing/run-shard-against.js';
import { answersAfter, opens, simulate } from '../testing/simulate.js';
import type { NetworkEvent } from '../testing/simulated-network.js';
import { CLOSE_CAUSE } from '../transport/transport.js';

function pipelined(more: Partial<Shard>): Shard {
  return shardFor(1, { connections: 1, pipeline: 4, ...more });
}

describe('a pipeline', () => {
  it('keeps so many requests in flight, and times each from its own send to its own reply', async () => {
    const run = await simulate(pipelined({ requests: 400 }), { onOpen: opens, onSend: answersAfter(1_000) });
    expect([run.count('completed'), run.count('keepAliveReplies')]).toEqual([400, 400]);
    expect(run.histogram('fresh')).toMatchObject({ total: 1, minUs: 1_300 });
    // The target answers one a millisecond and four are in flight: each waits for three others, but for the
    // first ones, which were sent when it was idle.
    const reused = run.histogram('reused');
    expect([reused.minUs, reused.percentileUs(50), reused.maxUs]).toEqual([2_000, 4_000, 4_000]);
    expect(run.histogram('wait').percentileUs(50)).toBe(4_000);
    expect(run.network.elapsedUs).toBeCloseTo(400_300, -1);
  });

  it('is filled with as few writes as possible', async () => {
    const many: NetworkEvent[] = [{ afterUs: 0, bytes: reply(10) }];
    const run = await simulate(pipelined({ requests: 100 }), { onOpen: opens, onSend: () => many });
    expect(run.count('completed')).toBe(100);
    // Replies come one by one here, so only the first fill is a batch.
    expect([run.network.sends, run.network.writes]).toEqual([100, 97]);
    const target = await RawTarget.listen((socket) => void socket.write(reply(10)));
    const real = await runShardAgainst(
      shardFor(target.port, { requests: 1_000, connections: 2, pipeline: 16 }),
    );
    await target.close();
    expect([real.count('completed'), target.requests, target.connections]).toEqual([1_000, 1_000, 2]);
    expect(real.count('bytesSent')).toBe(target.received.length);
  });

  it('reads several replies from one piece, and a reply that pieces cut', async () => {
    const text = reply(10, { lines: ['X: y'] });
    let sends = 0;
    const run = await simulate(pipelined({ requests: 40 }), {
      onOpen: opens,
      onSend: () => {
        if (++sends % 4 !== 0) return [];
        const all = text.repeat(4);
        const cut = (sends * 7) % all.length;
        return [
          { afterUs: 500, bytes: all.slice(0, cut) },
          { afterUs: 500, bytes: all.slice(cut) },
        ].filter((event) => event.bytes !== '');
      },
    });
    expect([run.count('completed'), run.count('bodyBytesReceived')]).toEqual([40, 400]);
    expect(run.failures).toEqual({});
  });

  it('takes bytes behind the last reply for what they are: the connection is not used again', async () => {
    let sends = 0;
    const run = await simulate(pipelined({ requests: 8 }), {
      onOpen: opens,
      onSend: () => [{ afterUs: 100, bytes: ++sends === 4 ? `${reply(10)}surplus` : reply(10) }],
    });
    // The fourth reply ends its connection; by then three more requests were behind it.
    expect(run.count('completed') + run.count('malformed') + run.count('pipelineEnded')).toBe(8);
    expect(run.count('malformed')).toBe(1);
    expect(run.count('connectionsOpened')).toBe(2);
  });
});

describe('a connection that ends with a pipeline on it', () => {
  /** Answers two requests, then a part of the third or nothing, then ends. */
  const endsAfterTwo = (part: string, cause: (typeof CLOSE_CAUSE)[keyof typeof CLOSE_CAUSE]) => {
    let sends = 0;
    return {
      onOpen: () => {
        sends = 0;
        return opens();
      },
      onSend: (): NetworkEvent[] => {
        sends++;
        if (sends <= 2) return [{ afterUs: 100, bytes: reply(10) }];
        if (sends > 3) return [];
        const start: NetworkEvent[] = part === '' ? [] : [{ afterUs: 100, bytes: part }];
        return [...start, { afterUs: 50, cause, errno: 0 }];
      },
    };
  };

  it.each([
    ['', CLOSE_CAUSE.ended, { closedWithoutReplyReused: 4 }],
    ['HTTP/1.1 2', CLOSE_CAUSE.ended, { truncated: 1, closedWithoutReplyReused: 3 }],
    ['', CLOSE_CAUSE.reset, { resetBeforeFirstByte: 4 }],
    ['HTTP/1.1 2', CLOSE_CAUSE.reset, { resetAfterFirstByte: 1, resetBeforeFirstByte: 3 }],
  ] as const)('fails each request once: %j, cause %i', async (part, cause, failures) => {
    const run = await simulate(pipelined({ requests: 6 }), endsAfterTwo(part, cause));
    expect(run.count('completed')).toBe(2);
    expect(run.failures).toEqual(failures);
    expect(run.histogram('servedClosedUnannounced')).toMatchObject({ total: 1, minUs: 2, maxUs: 2 });
  });

  it('fails what is behind an announced close, an unreadable reply and one that is too late', async () => {
    const behind = async (third: NetworkEvent[]): Promise<object> => {
      let sends = 0;
      const run = await simulate(pipelined({ requests: 4, timeoutMs: 500 }), {
        onOpen: opens,
        onSend: () => (++sends === 1 ? third : []),
      });
      return { completed: run.count('completed'), ...run.failures };
    };
    const closing = reply(10, { lines: ['Connection: close'] });
    expect(await behind([{ afterUs: 100, bytes: closing }])).toEqual({ completed: 1, pipelineEnded: 3 });
    expect(await behind([{ afterUs: 100, bytes: 'nonsense' }])).toEqual({
      completed: 0,
      malformed: 1,
      pipelineEnded: 3,
    });
    expect(await behind([])).toEqual({ completed: 0, timeout: 1, pipelineEnded: 3 });
  });

  it('gives each request of a pipeline its own timeout', async () => {
    const run = await simulate(pipelined({ requests: 8, timeoutMs: 500 }), {
      onOpen: opens,
      onSend: answersAfter(120_000),
    });
    // Four in flight take 480 ms each.
    expect(run.count('completed')).toBe(8);
    const late = await simulate(pipelined({ requests: 8, timeoutMs: 400 }), {
      onOpen: opens,
      onSend: answersAfter(120_000),
    });
    expect(late.count('timeout')).toBeGreaterThan(0);
  });
});

describe('retryIdempotent', () => {
  /** Closes each connection after so many replies without a word, with a request on its way. */
  const limitOf = (limit: number) => {
    const served: number[] = [];
    return {
      onOpen: (connection: number) => {
        served[connection] = 0;
        return opens();
      },
      onSend: (connection: number): NetworkEvent[] => {
        served[connection] = (served[connection] ?? 0) + 1;
        return (served[connection] ?? 0) > limit
          ? [{ afterUs: 20, cause: CLOSE_CAUSE.ended, errno: 0 }]
          : [{ afterUs: 100, bytes: reply(10) }];
      },
    };
  };

  it('sends a request once more on a new connection and counts it once', async () => {
    const run = await simulate(shardFor(1, { requests: 100, retryIdempotent: true }), limitOf(10));
    expect([run.count('sent'), run.count('completed'), run.count('retried')]).toEqual([100, 100, 9]);
    expect(run.failures).toEqual({});
    expect(run.network.sends).toBe(109);
    // The time of both attempts: close after 20 µs, connect in 300 µs, reply after 100 µs.
    expect(run.histogram('fresh')).toMatchObject({ total: 10, minUs: 400, maxUs: 420 });
    expect(run.histogram('servedClosedUnannounced')).toMatchObject({ total: 9, minUs: 10, maxUs: 10 });
  });

  it('does so for every request of a pipeline that had no reply', async () => {
    const run = await simulate(
      shardFor(1, { requests: 100, pipeline: 5, retryIdempotent: true }),
      limitOf(10),
    );
    expect([run.count('completed'), run.count('sent')]).toEqual([100, 100]);
    expect(run.count('retried')).toBeGreaterThanOrEqual(9 * 4);
  });

  it('is for idempotent methods only, and not without the option', async () => {
    for (const shard of [
      shardFor(1, { requests: 22, request: { method: 'POST' }, retryIdempotent: true }),
      shardFor(1, { requests: 22 }),
    ]) {
      const run = await simulate(shard, limitOf(10));
      expect([run.count('completed'), run.count('retried')]).toEqual([20, 0]);
      expect(run.failures).toEqual({ closedWithoutReplyReused: 2 });
    }
  });

  it('happens once: a request that meets a second close fails', async () => {
    let sends = 0;
    const run = await simulate(shardFor(1, { requests: 3, retryIdempotent: true }), {
      onOpen: opens,
      onSend: () =>
        ++sends === 1
          ? [{ afterUs: 100, bytes: reply(10) }]
          : [{ afterUs: 20, cause: CLOSE_CAUSE.reset, errno: 104 }],
    });
    expect([run.count('completed'), run.count('retried')]).toEqual([1, 1]);
    expect(run.failures).toEqual({ resetBeforeFirstByte: 2 });
  });
});
