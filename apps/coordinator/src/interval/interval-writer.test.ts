import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import type { StoredFrame } from './interval.repository.js';
import { IntervalWriter } from './interval-writer.js';

const log = pino({ level: 'silent' });
const frameOf = (number: number): StoredFrame => ({
  runId: 'r',
  shardIndex: 0,
  attempt: 1,
  number,
  frame: new Uint8Array(10),
});

describe('the interval writer', () => {
  it('stores what arrives during one statement with the next one', async () => {
    const batches: number[] = [];
    const writer = new IntervalWriter(
      {
        append: (frames) => {
          batches.push(frames.length);
          return Promise.resolve();
        },
      },
      log,
    );
    await Promise.all(Array.from({ length: 1_200 }, (_, number) => writer.write(frameOf(number))));
    expect(batches).toEqual([500, 500, 200]);
  });

  it('begins to store a large burst before its end', async () => {
    const batches: number[] = [];
    let isBurstOver = false;
    const append = (frames: readonly StoredFrame[]): Promise<void> => {
      if (!isBurstOver) batches.push(frames.length);
      return Promise.resolve();
    };
    const writer = new IntervalWriter({ append }, log);
    const stored: Promise<void>[] = [];
    for (let number = 0; number < 40; number++) {
      stored.push(writer.write({ ...frameOf(number), frame: new Uint8Array(100_000) }));
      // As between the sockets of one turn of the event loop.
      await Promise.resolve();
    }
    isBurstOver = true;
    await Promise.all(stored);
    expect(batches[0]).toBeGreaterThan(10);
    expect(batches[0]).toBeLessThan(20);
  });

  it('says that a frame is stored only after the commit', async () => {
    let commit: (() => void) | undefined;
    const appended = new Promise<void>((began) => {
      const writer = new IntervalWriter(
        {
          append: () =>
            new Promise((resolve) => {
              commit = resolve;
              began();
            }),
        },
        log,
      );
      void writer.write(frameOf(0)).then(() => events.push('stored'));
    });
    const events: string[] = [];
    await appended;
    expect(events).toEqual([]);
    commit?.();
    await new Promise((resolve) => setImmediate(resolve));
    expect(events).toEqual(['stored']);
  });
});
