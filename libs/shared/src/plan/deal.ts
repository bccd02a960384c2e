/**
 * Who of several shards gets how much of a whole, by weight. Everything adds up exactly, whatever the numbers:
 *
 *   splitByWeights   10 over 3 : 1         8, 2
 *   dealByWeights    numbers over 3 : 1    0 0 1 0 | 0 0 1 0 | …   a round of 4, each number with its owner
 */

/**
 * Cuts `total` into one whole share per weight by the largest remainder: each share is its fair value rounded down,
 * and what is left goes one by one to those that were cut most, the first ones where they are alike.
 * Integer arithmetic in BigInt, because total × weight passes 2^53.
 * @param weights non-negative whole numbers, at least one of them positive.
 * @throws RangeError when no weight is positive.
 */
export function splitByWeights(total: number, weights: readonly number[]): number[] {
  const sum = weights.reduce((a, b) => a + BigInt(b), 0n);
  if (sum <= 0n) throw new RangeError('weights must have a positive sum');
  const parts = weights.map((weight, index) => {
    const scaled = BigInt(total) * BigInt(weight);
    return { index, share: Number(scaled / sum), remainder: scaled % sum };
  });
  let left = total - parts.reduce((given, { share }) => given + share, 0);
  const shares = parts.map(({ share }) => share);
  for (const { index } of parts.toSorted((a, b) => compare(b.remainder, a.remainder))) {
    if (left === 0) break;
    shares[index] = (shares[index] ?? 0) + 1;
    left--;
  }
  return shares;
}

/**
 * The same with at least one for each: whoever would get none gets one of those that have most.
 * @param total at least as many as there are weights.
 */
export function splitWithOneEach(total: number, weights: readonly number[]): number[] {
  if (total < weights.length) throw new RangeError(`${total} cannot be cut into ${weights.length} shares`);
  const shares = splitByWeights(total, weights);
  for (const [index, share] of shares.entries()) {
    if (share > 0) continue;
    const most = shares.indexOf(Math.max(...shares));
    shares[most] = (shares[most] ?? 0) - 1;
    shares[index] = 1;
  }
  return shares;
}

/** In each round of `round` numbers those at `lanes[k]` are shard k's. */
export interface Deal {
  readonly round: number;
  /** Rising; each number below `round` in exactly one list. */
  readonly lanes: readonly (readonly number[])[];
}

/**
 * Deals out the numbers 0, 1, 2 … in rounds, each shard's evenly over the round: number j of a shard with weight w
 * has its place at (j + ½) / w of it. With equal weights shards take turns.
 * @param weights positive whole numbers.
 */
export function dealByWeights(weights: readonly number[]): Deal {
  const divisor = weights.reduce(greatestCommonDivisor, 0);
  const lanes: number[][] = weights.map(() => []);
  const places = weights.flatMap((weight, shard) => {
    const count = weight / divisor;
    return Array.from({ length: count }, (_, j) => ({ shard, at: (j + 0.5) / count }));
  });
  for (const [number, { shard }] of places.toSorted((a, b) => a.at - b.at || a.shard - b.shard).entries()) {
    lanes[shard]?.push(number);
  }
  return { round: places.length, lanes };
}

/** How many of the numbers 0 … total − 1 are dealt to the owner of these lanes. */
export function dealtShare(total: number, lanes: readonly number[], round: number): number {
  const rest = total % round;
  return Math.floor(total / round) * lanes.length + lanes.filter((lane) => lane < rest).length;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
