import { describe, expect, it } from 'vitest';
import { LIMITS } from '../limits.js';
import { intervalOf } from '../testing/observed.js';
import { FUZZ_SEED, Random } from '../testing/random.js';
import { encodeBundle, framesOf } from './bundle.js';
import { FrameError } from './byte-reader.js';
import { decodeInterval, encodeInterval } from './frame.js';

const FRAMES = [0, 1, 2].map((number) => encodeInterval(intervalOf(number, { counters: { sent: number } })));

function refusal(message: Uint8Array): string {
  try {
    framesOf(message);
  } catch (error) {
    if (error instanceof FrameError) return error.message;
    throw error;
  }
  return 'not refused';
}

describe('a bundle of frames', () => {
  it('comes back as the frames that were put in, byte for byte', () => {
    expect(framesOf(encodeBundle(FRAMES))).toEqual(FRAMES);
    expect(framesOf(encodeBundle(FRAMES)).map((frame) => decodeInterval(frame).number)).toEqual([0, 1, 2]);
  });

  it('is not needed: a single frame is taken as it is, and so is what is no frame at all', () => {
    const [first = new Uint8Array(0)] = FRAMES;
    expect(framesOf(first)).toEqual([first]);
    expect(framesOf(new Uint8Array(0))).toHaveLength(1);
  });

  it('is refused when it is cut anywhere, or goes on after its end', () => {
    const bundle = encodeBundle(FRAMES);
    for (let length = 3; length < bundle.length; length++) {
      expect(refusal(bundle.subarray(0, length)), `${length} bytes`).toMatch(/^frame: /);
    }
    expect(refusal(Uint8Array.from([...bundle, 0]))).toMatch(/1 byte too many/);
  });

  it('is refused when it is empty, of too many, or of another version', () => {
    expect(refusal(encodeBundle([]))).toMatch(/0 frames/);
    const many = Array.from({ length: LIMITS.maxBundledFrames + 1 }, () => new Uint8Array(1));
    expect(refusal(encodeBundle(many))).toMatch(/frames in a bundle/);
    const other = encodeBundle(FRAMES);
    other[3] = 99;
    expect(refusal(other)).toMatch(/version 99/);
  });

  it(`gives frames or a FrameError for any mutation (seed ${FUZZ_SEED})`, () => {
    const random = new Random(FUZZ_SEED);
    const bundle = encodeBundle(FRAMES);
    for (let round = 0; round < 500; round++) {
      const mutated = bundle.slice();
      mutated[random.int(3, mutated.length - 1)] = random.int(0, 255);
      expect(refusal(mutated)).toMatch(/^(not refused|frame: )/);
    }
  });
});
