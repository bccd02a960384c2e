import { expect, it } from 'vitest';
import {
  formatBytes,
  formatCount,
  formatCounted,
  formatDurationMs,
  formatGiven,
  formatLatencyUs,
  numberOrText,
  parseDurationMs,
} from './units.js';

it.each([
  ['30s', 30_000],
  ['1m30s', 90_000],
  ['500ms', 500],
  ['2h', 7_200_000],
  ['1min', 60_000],
  ['1.5s', 1_500],
  ['10', 10_000],
  ['0.25', 250],
  [' 5s ', 5_000],
  ['1500us', 2],
  ['0s', 0],
])('reads the duration %j as %i ms', (text, ms) => {
  expect(parseDurationMs(text)).toBe(ms);
});

it.each(['', 's', '5 s', '-5s', '5d', '1e3s', '5s5', 'NaN', 'Infinity', '.5s', '5.s', '٣s'])(
  'takes %j for no duration',
  (text) => {
    expect(parseDurationMs(text)).toBeUndefined();
  },
);

it.each([
  [0, '0ms'],
  [850, '850ms'],
  [999.6, '1.00s'],
  [1_234, '1.23s'],
  [12_340, '12.3s'],
  [59_960, '1m 0s'],
  [90_000, '1m 30s'],
  [3_599_600, '1h 0m'],
  [3_720_000, '1h 2m'],
])('writes %f ms as %s', (ms, text) => {
  expect(formatDurationMs(ms)).toBe(text);
});

it.each([
  [0, '0µs'],
  [999, '999µs'],
  [999.6, '1.00ms'],
  [1_234, '1.23ms'],
  [12_345, '12.3ms'],
  [123_456, '123ms'],
  [999_600, '1.00s'],
  [4_560_000, '4.56s'],
  [123_456_789, '123s'],
  [3_600_000_000, '3600s'],
])('writes %f µs as %s', (us, text) => {
  expect(formatLatencyUs(us)).toBe(text);
});

it.each([
  [0, '0B'],
  [1_023, '1023B'],
  [1_024, '1.00KiB'],
  [12_595, '12.3KiB'],
  [1_023.4 * 1_024, '1023KiB'],
  [1_048_575, '1.00MiB'],
  [5 * 1_048_576, '5.00MiB'],
  [1_000 * 1_048_576, '1000MiB'],
  [2 ** 50, '1024TiB'],
])('writes %i bytes as %s', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});

it.each([
  [0, '0'],
  [999, '999'],
  [1_000, '1,000'],
  [1_234_567.4, '1,234,567'],
])('groups the digits of %f', (count, text) => {
  expect(formatCount(count)).toBe(text);
});

it('knows one from many', () => {
  expect(formatCounted(1, 'slot')).toBe('1 slot');
  expect(formatCounted(0, 'slot')).toBe('0 slots');
  expect(formatCounted(2_000, 'reply', 'replies')).toBe('2,000 replies');
});

it.each([
  ['20000', 20_000],
  [' 0.5 ', 0.5],
  ['1e6', 1_000_000],
  ['-3', -3],
  ['0x10', '0x10'],
  ['1_000', '1_000'],
  ['.5', '.5'],
  ['', ''],
  ['Infinity', 'Infinity'],
])('%j of a flag is %j', (text, value) => {
  expect(numberOrText(text)).toBe(value);
});

it('separates the thousands of a number that a person gave, and keeps its digits', () => {
  expect([500_000, 999, 0.5, 1_234.5678, 1e6].map(formatGiven)).toEqual([
    '500,000',
    '999',
    '0.5',
    '1,234.5678',
    '1,000,000',
  ]);
});
