import { describe, expect, it } from 'vitest';
import { chooseCluster } from './cluster/choose-cluster.js';
import { transportFlag } from './transport-flag.js';

describe('--transport', () => {
  it('is one of four words, or absent', () => {
    expect(['auto', 'io_uring', 'epoll', 'socket', undefined].map((text) => transportFlag(text))).toEqual([
      'auto',
      'io_uring',
      'epoll',
      'socket',
      undefined,
    ]);
    expect(() => transportFlag('toString')).toThrow(
      '--transport "toString": must be one of auto, io_uring, epoll, socket',
    );
  });

  it('is refused when the load comes from the agents of a coordinator elsewhere', () => {
    const remote = { flag: '--coordinator', url: 'http://127.0.0.1:7070', token: undefined };
    const plan = { connections: 1 };
    const onSlowStart = (): void => undefined;
    expect(() => chooseCluster({ remote, plan, transport: 'epoll', onSlowStart })).toThrow(
      '--transport belongs to the agents there',
    );
    expect(() => chooseCluster({ remote, plan, onSlowStart })).not.toThrow();
  });
});
