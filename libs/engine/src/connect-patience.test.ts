import { LIMITS } from '@broadside/shared';
import { expect, it } from 'vitest';
import { ConnectPatience, nextBackoffMs } from './connect-patience.js';

it('gives up a target that never accepted a connection after a few attempts', () => {
  const patience = new ConnectPatience({ isTimed: true, timeoutMs: 1_000 });
  const verdicts = Array.from({ length: LIMITS.maxInitialConnectFailures }, () => patience.noteFailed(0));
  expect(verdicts.indexOf(true)).toBe(LIMITS.maxInitialConnectFailures - 1);
});

it('bears a target that dies later for as long as a timed load lasts', () => {
  const patience = new ConnectPatience({ isTimed: true, timeoutMs: 1_000 });
  patience.noteOpened();
  expect(patience.noteFailed(0)).toBe(false);
  expect(patience.noteFailed(1e12)).toBe(false);
});

it('gives up a counted load after ten seconds of nothing but failures, or one timeout if that is longer', () => {
  const short = new ConnectPatience({ isTimed: false, timeoutMs: 1_000 });
  short.noteOpened();
  expect([short.noteFailed(5), short.noteFailed(9_000_000), short.noteFailed(10_000_005)]).toEqual([
    false,
    false,
    true,
  ]);
  short.noteOpened();
  expect(short.noteFailed(20_000_000)).toBe(false);
  const long = new ConnectPatience({ isTimed: false, timeoutMs: 60_000 });
  long.noteOpened();
  expect([long.noteFailed(0), long.noteFailed(59_000_000), long.noteFailed(60_000_000)]).toEqual([
    false,
    false,
    true,
  ]);
});

it('doubles the wait from 10 ms to one second', () => {
  const waits: number[] = [];
  for (let waitMs = 0; waits.length < 9; ) waits.push((waitMs = nextBackoffMs(waitMs)));
  expect(waits).toEqual([10, 20, 40, 80, 160, 320, 640, 1_000, 1_000]);
});
