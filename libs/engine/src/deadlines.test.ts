import { expect, it } from 'vitest';
import { Deadlines } from './deadlines.js';

function expired(deadlines: Deadlines, nowUs: number): number[] {
  const found: number[] = [];
  deadlines.expire(nowUs, (connection) => found.push(connection));
  return found;
}

it('has nothing to wait for until a deadline is set', () => {
  const deadlines = new Deadlines(3);
  expect(deadlines.nextUs).toBe(Number.POSITIVE_INFINITY);
  expect(deadlines.set(1, 1_000_000)).toBe(true);
  expect(deadlines.nextUs).toBe(1_000_000);
});

it('reports each passed deadline once', () => {
  const deadlines = new Deadlines(3);
  deadlines.set(0, 100_000);
  deadlines.set(1, 200_000);
  deadlines.set(2, 100_000);
  expect(expired(deadlines, 99_999)).toEqual([]);
  expect(expired(deadlines, 100_000)).toEqual([0, 2]);
  expect(expired(deadlines, 199_999)).toEqual([]);
  expect(expired(deadlines, 200_000)).toEqual([1]);
  expect(expired(deadlines, 900_000)).toEqual([]);
});

it('forgets a deadline that was moved or cleared', () => {
  const deadlines = new Deadlines(2);
  deadlines.set(0, 100_000);
  deadlines.set(1, 100_000);
  expect(deadlines.set(0, 300_000)).toBe(false);
  deadlines.clear(1);
  expect(expired(deadlines, 150_000)).toEqual([]);
  expect(deadlines.nextUs).toBe(300_000);
});

it('says when an earlier deadline needs an earlier look, but does not look more often than every 5 ms', () => {
  const deadlines = new Deadlines(2);
  deadlines.set(0, 100_000);
  expired(deadlines, 100_000);
  deadlines.set(0, 500_000);
  expect(deadlines.set(1, 100_001)).toBe(true);
  expect(deadlines.nextUs).toBe(105_000);
  expect(expired(deadlines, 105_000)).toEqual([1]);
});

it('keeps deadlines that are set while others expire', () => {
  const deadlines = new Deadlines(1);
  deadlines.set(0, 100_000);
  deadlines.expire(100_000, (connection) => deadlines.set(connection, 200_000));
  expect(deadlines.nextUs).toBe(200_000);
  expect(expired(deadlines, 200_000)).toEqual([0]);
});
