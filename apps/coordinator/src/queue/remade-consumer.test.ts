import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RemadeConsumer } from './remade-consumer.js';

const RETRY_MS = 500;

/** Workers that open or fail as told, one after the other. */
function workers(...opens: readonly boolean[]) {
  const said: string[] = [];
  let made = 0;
  const make = () => {
    const number = ++made;
    const isOpen = opens[number - 1] ?? true;
    return {
      waitUntilReady: () =>
        isOpen ? Promise.resolve(undefined as never) : Promise.reject(new Error(`no carrier for ${number}`)),
      run: () => Promise.resolve(void said.push(`run ${number}`)),
      pause: () => Promise.resolve(void said.push(`pause ${number}`)),
      close: () => Promise.resolve(void said.push(`close ${number}`)),
    };
  };
  const onError = (error: unknown) => void said.push(String(error));
  return { said, consumer: new RemadeConsumer({ make, onError, retryMs: RETRY_MS }) };
}

describe('a consumer', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('asks for jobs once it is open', async () => {
    const { said, consumer } = workers(true);
    await consumer.waitUntilReady();
    expect(said).toEqual(['run 1']);
  });

  it('never asks while its carrier is away, and is made again until it is back', async () => {
    const { said, consumer } = workers(false, false, true);
    await vi.advanceTimersByTimeAsync(2 * RETRY_MS);
    await consumer.waitUntilReady();
    expect(said).toEqual([
      'Error: no carrier for 1',
      'close 1',
      'Error: no carrier for 2',
      'close 2',
      'run 3',
    ]);
  });

  it('is not made again once it was closed', async () => {
    const { said, consumer } = workers(false, true);
    await vi.advanceTimersByTimeAsync(0);
    await consumer.close();
    await vi.advanceTimersByTimeAsync(10 * RETRY_MS);
    expect(said).toEqual(['Error: no carrier for 1', 'close 1']);
  });

  it('asks for nothing when it was paused before it opened', async () => {
    const { said, consumer } = workers(true);
    await consumer.pause(true);
    await vi.advanceTimersByTimeAsync(RETRY_MS);
    expect(said).toEqual(['pause 1']);
  });
});
