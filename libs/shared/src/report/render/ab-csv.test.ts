import { expect, it } from 'vitest';
import { sampleReport } from '../../testing/observed.js';
import { abCsv } from './ab-csv.js';

function rowsOf(samplesUs: readonly number[]): string[] {
  const counters = { completed: samplesUs.length, planned: samplesUs.length, sent: samplesUs.length };
  const report = sampleReport({ seen: { counters, samples: { reused: samplesUs } } });
  return abCsv(report).split('\n');
}

it('has a head, 101 rows, and a line end after the last', () => {
  const rows = rowsOf([1_000]);
  expect(rows).toHaveLength(103);
  expect(rows[0]).toBe('Percentage served,Time in ms');
  expect(rows[1]).toBe('0,1.000');
  expect(rows[101]).toBe('100,1.000');
  expect(rows[102]).toBe('');
});

it('takes the sample at N·p/100 + 0.5, and the last one where ab reads behind its array', () => {
  // Samples of 1 to 100 µs are exact in the histogram.
  const rows = rowsOf(Array.from({ length: 100 }, (_, i) => i + 1));
  expect(rows.slice(1, 4)).toEqual(['0,0.001', '1,0.002', '2,0.003']);
  expect(rows.slice(99, 102)).toEqual(['98,0.099', '99,0.100', '100,0.100']);
  expect(rowsOf([1, 2, 3]).slice(98, 102)).toEqual(['97,0.003', '98,0.003', '99,0.003', '100,0.003']);
});
