import { expect, it } from 'vitest';
import { LIMITS } from '../../limits.js';
import { balancedCounters, sampleReport } from '../../testing/observed.js';
import { abGnuplot } from './ab-gnuplot.js';

function rowsOf(samples: Record<string, readonly number[]>, count: number): string[][] {
  const counters = balancedCounters({ completed: count });
  const report = sampleReport({ plan: { requests: count }, seen: { counters, samples } });
  const text = abGnuplot({ ...report, run: { ...report.run, startedAt: '2026-11-05T18:04:06.900Z' } });
  expect(text.endsWith('\n')).toBe(true);
  return text
    .slice(0, -1)
    .split('\n')
    .map((line) => line.split('\t'));
}

it('has a row for each reply, sorted by duration, with the parts of first requests', () => {
  const rows = rowsOf(
    { reused: [900, 2_000, 7_000], fresh: [5_000], connect: [1_000], wait: [400, 500, 600, 6_000] },
    4,
  );
  expect(rows[0]).toEqual(['starttime', 'seconds', 'ctime', 'dtime', 'ttime', 'wait']);
  expect(rows.slice(1).map((row) => row.slice(2))).toEqual([
    ['0', '1', '1', '0'],
    ['0', '2', '2', '1'],
    ['1', '4', '5', '1'],
    ['0', '7', '7', '6'],
  ]);
});

it('names the start of the run in local time and in seconds', () => {
  const [, row = []] = rowsOf({ reused: [900] }, 1);
  expect(row[0]).toMatch(/^[A-Z][a-z]{2} Nov 0[4-6] \d\d:\d\d:06 2026$/);
  expect(row[1]).toBe(String(Date.UTC(2026, 10, 5, 18, 4, 6) / 1_000));
});

it('is thinned evenly where there are very many replies', () => {
  const report = sampleReport({
    seen: { counters: balancedCounters({ completed: 2 }), samples: { reused: [1_000, 3_000] } },
  });
  const half = LIMITS.maxAbSamples;
  const { reused } = report.latency;
  const bins = reused.bins.map(([lowest]): [number, number] => [lowest, half]);
  const latency = { ...report.latency, reused: { ...reused, count: 2 * half, bins } };
  const rows = abGnuplot({ ...report, latency }).split('\n');
  expect(rows).toHaveLength(LIMITS.maxAbSamples + 2);
  expect(rows[half / 2]?.split('\t')[4]).toBe('1');
  expect(rows[half / 2 + 2]?.split('\t')[4]).toBe('3');
});
