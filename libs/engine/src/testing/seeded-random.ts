/** Numbers in [0, 1) that a seed repeats (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** The seed of this test run: given to repeat a failure, else new each time. */
export const TEST_SEED = Number(process.env['BROADSIDE_TEST_SEED'] ?? Date.now() % 1_000_000_000);
