/** Seeded chance for tests and simulations: the same seed gives the same test. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** 0 ≤ value < 1 (mulberry32: 32 bits of state are plenty for tests). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number, both ends included. */
  int(lowest: number, highest: number): number {
    return lowest + Math.floor(this.next() * (highest - lowest + 1));
  }

  /** A whole number that is small as often as large: even over orders of magnitude. */
  magnitude(highest: number): number {
    return Math.min(Math.floor(2 ** (this.next() * Math.log2(highest + 1))) - this.int(0, 1), highest);
  }

  isTrue(chance: number): boolean {
    return this.next() < chance;
  }

  pick<T>(values: readonly T[]): T {
    const value = values[this.int(0, values.length - 1)];
    if (value === undefined) throw new RangeError('nothing to pick from');
    return value;
  }
}

/** FUZZ_SEED where it is set, else the time. Tests put it into their titles. */
export const FUZZ_SEED: number = seedFromEnvironment() ?? Date.now() % 2 ** 32;

function seedFromEnvironment(): number | undefined {
  // This package knows no Node types, and only its tests run where there is an environment.
  const { process } = globalThis as { process?: { env: Record<string, string | undefined> } };
  const text = process?.env['FUZZ_SEED'];
  return text === undefined || text === '' ? undefined : Number(text);
}
