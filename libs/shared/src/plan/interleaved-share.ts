/** How many of the numbers 0 … total − 1 are `index` modulo `count`. */
export function interleavedShare(total: number, index: number, count: number): number {
  return total <= index ? 0 : Math.floor((total - index - 1) / count) + 1;
}
