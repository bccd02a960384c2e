import type { ShardEnd } from '@broadside/engine';
import { GAUGE_NAMES, newCounters } from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import { shardResultOf } from './shard-result.js';

const END: ShardEnd = {
  totals: {
    runId: 'r',
    shardIndex: 0,
    attempt: 1,
    intervals: 1,
    counters: newCounters(),
    statusCounts: new Map(),
    gauges: new Float64Array(GAUGE_NAMES.length),
    histograms: [],
  },
  server: '',
  firstReply: '',
  addresses: ['127.0.0.1', '127.0.0.2'],
  address: '127.0.0.2',
  used: ['127.0.0.2'],
  transport: 'epoll',
  failureReasons: [],
  startSkewUs: 0,
};

describe('result of a shard', () => {
  it('holds the first reply only where one was kept', () => {
    expect(shardResultOf(END, new Uint8Array())).not.toHaveProperty('firstReply');
    expect(shardResultOf({ ...END, firstReply: 'HTTP/1.1' }, new Uint8Array())).toMatchObject({
      firstReply: 'HTTP/1.1',
    });
  });

  it('names the addresses that were used first', () => {
    expect(shardResultOf(END, new Uint8Array())).toMatchObject({
      addresses: ['127.0.0.2', '127.0.0.1'],
      addressesUsed: 1,
      sharesMachine: true,
    });
  });

  it('says why a faster transport was not taken: the shard’s own reason before that of the thread', () => {
    const choiceNote = 'io_uring is not used: the kernel is too old';
    expect(shardResultOf(END, new Uint8Array())).not.toHaveProperty('transportNote');
    expect(shardResultOf(END, new Uint8Array(), choiceNote).transportNote).toBe(choiceNote);
    const transportNote = 'epoll is not used: it has no support for TLS';
    expect(shardResultOf({ ...END, transportNote }, new Uint8Array(), choiceNote)).toMatchObject({
      transportNote,
    });
  });
});
