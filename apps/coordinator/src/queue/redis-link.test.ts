import { describe, expect, it } from 'vitest';
import { QueueError } from './queue-error.js';
import { describeRedis } from './redis-link.js';

describe('describeRedis', () => {
  it('leaves out user, password and options', () => {
    expect(describeRedis('redis://me:secret@queue.example:6380/3?family=6')).toBe(
      'redis://queue.example:6380/3',
    );
    expect(describeRedis('rediss://queue.example/')).toBe('rediss://queue.example');
  });

  it.each(['', 'localhost:6379', 'http://secret@h', 'redis:secret', 'redis://'])(
    'refuses %j without repeating it',
    (address) => {
      expect(() => describeRedis(address)).toThrow(
        new QueueError('the Redis address must look like redis://host:6379'),
      );
    },
  );
});
