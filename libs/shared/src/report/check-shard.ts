import { COUNTER_NAMES, type Counters, counterOf } from '../metrics/counters.js';
import { sameHistogram } from '../metrics/histogram.js';
import { HISTOGRAM_NAMES, type ShardTotals } from '../metrics/interval.js';
import { formatCount } from '../units.js';
import type { RunTotals } from './run-totals.js';
import { intervalNames, type ShardSum } from './shard-sum.js';

/** Most differences of one shard that are spelled out; a broken shard differs everywhere. */
const MAX_DIFFERENCES = 3;

export interface ShardCheck {
  /** Sum of the intervals. */
  readonly sum: RunTotals;
  /** One sentence for each thing that is missing or differs; empty when all is there and equal. */
  readonly problems: string[];
}

/**
 * Holds the sum of the intervals of one shard attempt against the shard's own totals: no slice missing or doubled,
 * the last one marked, every counter, status code and histogram bin equal.
 * @param name how the problems call it, e.g. `shard 3 (attempt 1, agent a1)`
 * @param totals from the shard's result; undefined when it never came, which is a problem of its own
 */
export function checkShard(name: string, sum: ShardSum, totals: ShardTotals | undefined): ShardCheck {
  const problems = [
    ...coverageProblems(sum, totals?.intervals),
    ...(totals === undefined ? ['its own totals never came'] : differences(sum.totals, totals)),
  ];
  return { sum: sum.totals, problems: problems.map((problem) => `${name}: ${problem}`) };
}

/**
 * The same for a fenced attempt, whose end and totals will never come: what is there must be without a gap, and
 * must be what was counted while it came.
 * @param counted sum of the counters as they arrived
 */
export function checkFencedShard(name: string, sum: ShardSum, counted: Counters): ShardCheck {
  const problems = [...sum.problems];
  for (const counter of COUNTER_NAMES) {
    const [stored, arrived] = [sum.totals.counter(counter), counterOf(counted, counter)];
    if (stored !== arrived)
      problems.push(
        `${counter} is ${formatCount(stored)} in the stored intervals, and ${formatCount(arrived)} came`,
      );
  }
  return { sum: sum.totals, problems: shortened(problems).map((problem) => `${name}: ${problem}`) };
}

/** Gaps, overlaps and a missing end in the numbers of one shard's intervals. */
function coverageProblems({ problems, next, hasLast }: ShardSum, expected: number | undefined): string[] {
  if (expected !== undefined && next < expected) {
    return shortened([...problems, `${intervalNames(next, expected - 1)} missing`]);
  }
  if (hasLast) return shortened(problems);
  const missing = next === 0 ? 'no interval came' : `the last interval is missing (after number ${next - 1})`;
  return shortened([...problems, missing]);
}

function differences(sum: RunTotals, totals: ShardTotals): string[] {
  const problems: string[] = [];
  for (const name of COUNTER_NAMES) {
    const summed = sum.counter(name);
    const own = counterOf(totals.counters, name);
    if (summed !== own)
      problems.push(
        `${name} is ${formatCount(summed)} in the intervals and ${formatCount(own)} in the totals`,
      );
  }
  for (const code of new Set([...sum.statusCounts.keys(), ...totals.statusCounts.keys()])) {
    const summed = sum.statusCounts.get(code) ?? 0;
    const own = totals.statusCounts.get(code) ?? 0;
    if (summed !== own)
      problems.push(
        `status ${code} is ${formatCount(summed)} in the intervals and ${formatCount(own)} in the totals`,
      );
  }
  for (const [i, name] of HISTOGRAM_NAMES.entries()) {
    const own = totals.histograms[i];
    if (own === undefined || !sameHistogram(sum.histogram(name).toSparse(), own)) {
      problems.push(`the ${name} histogram of the intervals is not that of the totals`);
    }
  }
  return shortened(problems);
}

function shortened(problems: readonly string[]): string[] {
  if (problems.length <= MAX_DIFFERENCES) return [...problems];
  return [
    ...problems.slice(0, MAX_DIFFERENCES),
    `and ${formatCount(problems.length - MAX_DIFFERENCES)} more differences`,
  ];
}
