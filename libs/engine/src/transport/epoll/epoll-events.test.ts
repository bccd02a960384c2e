import { describe, expect, it } from 'vitest';
import { EpollEvents } from './epoll-events.js';

/** Keeps the array that is handed to the kernel, so that a test can look at it as the kernel does. */
function watched(arch: string): { readonly events: EpollEvents; readonly words: () => readonly number[] } {
  let given: ArrayBufferView | undefined;
  const libc = {
    addressOf: (bytes: ArrayBufferView) => {
      given = bytes;
      return 1;
    },
  };
  const events = new EpollEvents(libc, 2, arch);
  return { events, words: () => (given === undefined ? [] : [...new Int32Array(given.buffer)]) };
}

describe('EpollEvents', () => {
  it('packs events to 12 bytes on x86-64', () => {
    const { events, words } = watched('x64');
    events.setFirst(5, 7, 9);
    expect(words()).toEqual([5, 7, 9, 0, 0, 0]);
    expect([events.maskAt(0), events.connectionAt(0), events.generationAt(0)]).toEqual([5, 7, 9]);
  });

  it('pads events to 16 bytes on arm64', () => {
    const { events, words } = watched('arm64');
    events.setFirst(5, 7, 9);
    expect(words()).toEqual([5, 0, 7, 9, 0, 0, 0, 0]);
    expect([events.maskAt(0), events.connectionAt(0), events.generationAt(0)]).toEqual([5, 7, 9]);
  });
});
