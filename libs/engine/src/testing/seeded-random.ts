import { RandomBits } from '@broadside/shared/engine';

/** Numbers in [0, 1) that a seed repeats. */
export function seededRandom(seed: number): () => number {
  const bits = new RandomBits(seed);
  return () => bits.next() / 2 ** 32;
}

/** The seed of this test run: FUZZ_SEED, given to repeat a failure, else new each time. */
export const FUZZ_SEED = Number(process.env['FUZZ_SEED'] || Date.now() % 2 ** 32);
