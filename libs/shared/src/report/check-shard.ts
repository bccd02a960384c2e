import { COUNTER_NAMES, type Counters, counterOf } from '../metrics/counters.js';
import { sameHistogram } from '../metrics/histogram.js';
import { HISTOGRAM_NAMES, type Interval, type ShardTotals } from '../metrics/interval.js';
import { RunTotals } from './run-totals.js';

/** Most differences of one shard that are spelled out; a broken shard differs everywhere. */
const MAX_DIFFERENCES = 3;

export interface ShardCheck {
  /** Sum of the intervals. */
  readonly sum: RunTotals;
  /** One sentence for each thing that is missing or differs; empty when all is there and equal. */
  readonly problems: string[];
}

/**
 * Folds the stored intervals of one shard attempt and holds them against the shard's own totals:
 * no slice missing or doubled, the last one marked, every counter, status code and histogram bin equal.
 * @param name how the problems call it, e.g. `shard 3 (attempt 1, agent a1)`
 * @param intervals in any order
 * @param totals from the shard's result; undefined when it never came, which is a problem of its own
 */
export function checkShard(
  name: string,
  intervals: Iterable<Interval>,
  totals: ShardTotals | undefined,
): ShardCheck {
  const sum = new RunTotals();
  const slices: Slice[] = [];
  for (const interval of intervals) {
    sum.addInterval(interval);
    slices.push({ number: interval.number, span: interval.span, isLast: interval.isLast });
  }
  const problems = [
    ...coverageProblems(slices, totals?.intervals),
    ...(totals === undefined ? ['its own totals never came'] : differences(sum, totals)),
  ];
  return { sum, problems: problems.map((problem) => `${name}: ${problem}`) };
}

/**
 * The same for a fenced attempt, whose end and totals will never come: what is there must be without a gap, and
 * must be what was counted while it came.
 * @param counted sum of the counters as they arrived
 */
export function checkFencedShard(name: string, intervals: Iterable<Interval>, counted: Counters): ShardCheck {
  const sum = new RunTotals();
  const slices: Slice[] = [];
  for (const interval of intervals) {
    sum.addInterval(interval);
    slices.push({ number: interval.number, span: interval.span, isLast: interval.isLast });
  }
  const problems = [...gapProblems(slices).problems];
  for (const counter of COUNTER_NAMES) {
    const [stored, arrived] = [sum.counter(counter), counterOf(counted, counter)];
    if (stored !== arrived)
      problems.push(`${counter} is ${stored} in the stored intervals, and ${arrived} came`);
  }
  return { sum, problems: shortened(problems).map((problem) => `${name}: ${problem}`) };
}

/** A shard's place in run time. */
interface Slice {
  readonly number: number;
  readonly span: number;
  readonly isLast: boolean;
}

/** Gaps, overlaps and a missing end in the numbers of one shard's intervals. */
function coverageProblems(slices: readonly Slice[], expected: number | undefined): string[] {
  const { problems, next, hasLast } = gapProblems(slices);
  if (expected !== undefined && next < expected) {
    problems.push(`${intervalNames(next, expected - 1)} missing`);
  } else if (!hasLast) {
    problems.push(
      next === 0 ? 'no interval came' : `the last interval is missing (after number ${next - 1})`,
    );
  }
  return shortened(problems);
}

/** @returns besides the number that would follow, and whether the last one is marked as the last. */
function gapProblems(slices: readonly Slice[]): { problems: string[]; next: number; hasLast: boolean } {
  const inOrder = [...slices].sort((a, b) => a.number - b.number);
  const problems: string[] = [];
  let next = 0;
  for (const slice of inOrder) {
    if (slice.number > next) problems.push(`${intervalNames(next, slice.number - 1)} missing`);
    if (slice.number < next) problems.push(`interval ${slice.number} came twice`);
    next = Math.max(next, slice.number + slice.span);
  }
  return { problems, next, hasLast: inOrder.at(-1)?.isLast === true };
}

function intervalNames(first: number, last: number): string {
  return first === last ? `interval ${first} is` : `intervals ${first} to ${last} are`;
}

function differences(sum: RunTotals, totals: ShardTotals): string[] {
  const problems: string[] = [];
  for (const name of COUNTER_NAMES) {
    const summed = sum.counter(name);
    const own = counterOf(totals.counters, name);
    if (summed !== own) problems.push(`${name} is ${summed} in the intervals and ${own} in the totals`);
  }
  for (const code of new Set([...sum.statusCounts.keys(), ...totals.statusCounts.keys()])) {
    const summed = sum.statusCounts.get(code) ?? 0;
    const own = totals.statusCounts.get(code) ?? 0;
    if (summed !== own)
      problems.push(`status ${code} is ${summed} in the intervals and ${own} in the totals`);
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
  return [...problems.slice(0, MAX_DIFFERENCES), `and ${problems.length - MAX_DIFFERENCES} more differences`];
}
