// Medians, spreads and markdown lines, the same for all benchmarks.

/**
 * @param {readonly number[]} numbers
 * @param {number} q
 */
export function quantile(numbers, q) {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
}

/** @param {readonly number[]} numbers */
export function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b);
  const upper = sorted.length >> 1;
  const lower = (sorted.length - 1) >> 1;
  return ((sorted[lower] ?? Number.NaN) + (sorted[upper] ?? Number.NaN)) / 2;
}

/**
 * Median, and the middle half in brackets: on a machine that others use too, the extremes tell of them.
 * @param {readonly number[]} numbers
 * @param {number} [digits]
 */
export function withSpread(numbers, digits = 2) {
  if (numbers.length === 0) return '';
  const [low, high] = [0.25, 0.75].map((q) => quantile(numbers, q).toFixed(digits));
  return `${median(numbers).toFixed(digits)} (${low} – ${high})`;
}

/**
 * One line of a markdown table.
 * @param {readonly string[]} cells
 */
export function line(...cells) {
  return `| ${cells.join(' | ')} |`;
}

/**
 * The order of a round: every other one goes backwards, so that a drift does not always favour the same one.
 * @template Item
 * @param {readonly Item[]} items
 * @param {number} round
 */
export function inTurn(items, round) {
  return round % 2 === 0 ? items : items.toReversed();
}
