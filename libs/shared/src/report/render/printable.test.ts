import { expect, it } from 'vitest';
import { printable, table, wrapped } from './printable.js';
import { formatShare } from './report-lines.js';

it('shows no control character of either set, and leaves other text alone', () => {
  expect(printable('a\u0000\u001b\u007f\u009bb äöü µ 😀')).toBe('a????b äöü µ 😀');
});

it('breaks at blanks and indents what follows', () => {
  expect(wrapped('one two three', 8, '  ')).toEqual(['one two', '  three']);
  expect(wrapped('', 8, '  ')).toEqual(['']);
});

it('cuts a word that is longer than a line', () => {
  expect(wrapped('abcdefghij', 6, '  ')).toEqual(['abcd', '  efgh', '  ij']);
  for (const line of wrapped('x'.repeat(1_000), 80, '    ')) expect(line.length).toBeLessThanOrEqual(80);
});

it('aligns the first column left and the others right', () => {
  expect(
    table([
      ['', 'a'],
      ['long', '123'],
    ]),
  ).toEqual(['        a', 'long  123']);
});

it('puts columns that do not fit below the others, with the names of the rows again', () => {
  const rows = [['', 'a', 'b', 'c'], ['long', '123', '4', '5'], ['and more']];
  const whole = ['            a  b  c', 'long      123  4  5', 'and more'];
  expect(table(rows, 19)).toEqual(whole);
  expect(table(rows, 18)).toEqual([
    '            a  b',
    'long      123  4',
    'and more',
    '',
    '          c',
    'long      5',
    'and more',
  ]);
  expect(table(rows, 1).filter((line) => line.startsWith('long'))).toEqual([
    'long      123',
    'long      4',
    'long      5',
  ]);
  expect(table([], 10)).toEqual([]);
});

it.each([
  [0, 0, '0 %'],
  [0, 5, '0 %'],
  [5, 5, '100 %'],
  [1, 100_000, '< 0.1 %'],
  [99_999, 100_000, '> 99.9 %'],
  [1, 3, '33.3 %'],
])('shows %i of %i as %s', (part, whole, text) => {
  expect(formatShare(part, whole)).toBe(text);
});
