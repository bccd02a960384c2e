/**
 * Random numbers of 32 bits that a seed repeats everywhere: xoshiro128** (Blackman and Vigna, 2018), whose period
 * no run exhausts, filled from the seed by a Weyl sequence with a strong mixer.
 */
export class RandomBits {
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  /** @param seed 32 bits. */
  constructor(seed: number) {
    let state = seed | 0;
    const word = (): number => {
      state = (state + 0x9e3779b9) | 0;
      let mixed = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
      mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
      return mixed ^ (mixed >>> 16);
    };
    this.#a = word();
    this.#b = word();
    this.#c = word();
    this.#d = word();
  }

  /** @returns a whole number from 0 to 2^32 − 1. */
  next(): number {
    const scrambled = Math.imul(rotated(Math.imul(this.#b, 5), 7), 9);
    const shifted = this.#b << 9;
    this.#c ^= this.#a;
    this.#d ^= this.#b;
    this.#b ^= this.#c;
    this.#a ^= this.#d;
    this.#c ^= shifted;
    this.#d = rotated(this.#d, 11);
    return scrambled >>> 0;
  }
}

function rotated(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}
