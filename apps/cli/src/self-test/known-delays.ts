import type { TargetScript } from './target-script.js';

/** Delays repeat after so many requests, with exact shares down to one in 2,000. */
const CYCLE = 2_000;

/** The delay of each request in ms; request n has that of n modulo the length. Each share is exact within it. */
export function delayCycleMs({ seed, shares }: TargetScript['delays']): Float64Array {
  const cycle = new Float64Array(CYCLE);
  let filled = 0;
  let share = 0;
  for (const [more, delayMs] of shares) {
    share += more;
    const end = Math.min(Math.round(share * CYCLE), CYCLE);
    cycle.fill(delayMs, filled, end);
    filled = end;
  }
  if (filled < CYCLE) throw new RangeError('the shares of the delays do not add up to 1');
  return shuffled(cycle, seed);
}

/** In an order that the seed gives (Fisher and Yates). */
function shuffled(values: Float64Array, seed: number): Float64Array {
  const random = randomOf(seed);
  for (let i = values.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    const value = values[i] ?? 0;
    values[i] = values[j] ?? 0;
    values[j] = value;
  }
  return values;
}

/** Numbers in [0, 1) that a seed repeats (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
