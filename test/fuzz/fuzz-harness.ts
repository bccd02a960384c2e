/** What a harness checks again and again, with chance that a seed repeats. */
export interface FuzzHarness {
  readonly name: string;
  /** Rounds in the short form, a few seconds in all, and in the long one. */
  readonly shortRounds: number;
  readonly longRounds: number;
  /** Makes ready once. @returns one round, which throws when something is not as it must be. */
  readonly begin: (chance: Chance) => () => void;
}

/** How often the rounds of a harness can be repeated with a seed of their own. */
const ROUNDS_PER_SEED = 100_000;

/**
 * Runs so many rounds. A failure names the seed and the round of it, with which it can be repeated alone.
 * @throws Error with the failure as its cause.
 */
export function fuzz(harness: FuzzHarness, firstSeed: number, rounds: number): void {
  for (let done = 0, seed = firstSeed; done < rounds; done += ROUNDS_PER_SEED, seed++) {
    const round = harness.begin(new Chance(seed));
    const count = Math.min(ROUNDS_PER_SEED, rounds - done);
    for (let i = 0; i < count; i++) {
      try {
        round();
      } catch (cause) {
        const reason = cause instanceof Error ? cause.message : String(cause);
        throw new Error(`${harness.name}: round ${i} of FUZZ_SEED=${seed}: ${reason}`, { cause });
      }
    }
  }
}

/** Random numbers that a seed repeats (mulberry32), and what fuzzing does with them. */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** 0 ≤ whole number < below. */
  below(below: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  }

  isOneIn(count: number): boolean {
    return this.below(count) === 0;
  }

  pick<T>(values: readonly T[]): T {
    const value = values[this.below(values.length)];
    if (value === undefined) throw new RangeError('nothing to pick from');
    return value;
  }
}

/** Bytes that mean something to the formats under test. */
const TELLING_BYTES = Buffer.from('\r\n\t :,;-+0159fFxX"[]{}&*!|>#\0\x01\x7f\x80\xff', 'latin1');

/**
 * Changes 1 to 4 places of the bytes in place of `into`: a bit, a byte, a stretch taken out, doubled or zeroed.
 * @returns how many bytes are there now; never more than `into` holds.
 */
export function mutate(into: Uint8Array, lengthBefore: number, chance: Chance): number {
  let length = lengthBefore;
  for (let changes = 1 + chance.below(4); changes > 0 && length > 0; changes--) {
    const at = chance.below(length);
    const size = Math.min(1 + chance.below(8), length - at);
    switch (chance.below(6)) {
      case 0:
        into[at] = (into[at] ?? 0) ^ (1 << chance.below(8));
        break;
      case 1:
        into[at] = TELLING_BYTES[chance.below(TELLING_BYTES.length)] ?? 0;
        break;
      case 2:
        into.copyWithin(at, at + size, length);
        length -= size;
        break;
      case 3: {
        const more = Math.min(size, into.length - length);
        into.copyWithin(at + more, at, length);
        length += more;
        break;
      }
      case 4:
        length = at;
        break;
      default:
        into.copyWithin(at, chance.below(length), Math.min(length, at + size));
    }
  }
  return length;
}
