/** Largest batch in bytes, unless a single request is larger: more does not make a write cheaper. */
const MOST_BYTES = 131_072;

/**
 * The same request once, twice, … up to `most` times in one piece of memory, so that a pipeline is filled with
 * one write. Large requests come in fewer.
 * @returns at position n − 1 the bytes of n requests.
 */
export function requestBatches(request: Uint8Array, most: number): Uint8Array[] {
  const { length } = request;
  const largest = Math.max(Math.min(most, Math.floor(MOST_BYTES / Math.max(length, 1))), 1);
  if (largest === 1) return [request];
  const bytes = new Uint8Array(length * largest);
  for (let n = 0; n < largest; n++) bytes.set(request, n * length);
  return Array.from({ length: largest }, (_, i) => bytes.subarray(0, (i + 1) * length));
}
