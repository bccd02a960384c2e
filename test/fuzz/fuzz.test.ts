// BROADSIDE_FUZZ=long for the long form (millions of rounds, some minutes); FUZZ_SEED repeats a failure.
import { decodeInterval, FrameError } from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import { parsePlanText } from '../../apps/cli/dist/run/plan-file.js';
import type { ReplyMemory } from '../../libs/engine/dist/transport/reply-memory.js';
import { PARSED, ResponseParser } from '../../libs/engine/dist/transport/response-parser.js';
import { ServerName } from '../../libs/engine/dist/transport/server-name.js';
import { ALL_HARNESSES } from './all-harnesses.js';
import { frameHarness } from './frame-harness.js';
import { type FuzzHarness, fuzz } from './fuzz-harness.js';
import { planHarness } from './plan-harness.js';
import { responseParserHarness } from './response-parser-harness.js';

const IS_LONG = process.env['BROADSIDE_FUZZ'] === 'long';
const SEED = Number(process.env['FUZZ_SEED'] ?? Date.now() % 1_000_000_000);
const LONG_TIMEOUT_MS = 3_600_000;

describe(`fuzzing (seed ${SEED})`, () => {
  it.each(
    ALL_HARNESSES.map((harness): [number, string, FuzzHarness] => [
      IS_LONG ? harness.longRounds : harness.shortRounds,
      harness.name,
      harness,
    ]),
  )(
    '%d rounds of %s end as they must',
    (rounds, _name, harness) => {
      expect(() => fuzz(harness, SEED, rounds)).not.toThrow();
    },
    IS_LONG ? LONG_TIMEOUT_MS : undefined,
  );
});

/** Loses the rest of a piece that ends in CR: the split that is easiest to get wrong. */
class ForgetfulParser extends ResponseParser {
  override feed(buffer: Uint8Array, start: number, end: number): number {
    const isCut = end - start > 1 && buffer[end - 1] === 13;
    const result = super.feed(buffer, start, isCut ? end - 1 : end);
    if (isCut && result === PARSED.more) this.position = end;
    return result;
  }
}

const LIMITS = { maxHeaderBytes: 600, maxBodyBytes: 200 };

describe('a planted bug is found', () => {
  it('in a response parser that loses a byte between two pieces', () => {
    const planted = (memory: ReplyMemory) =>
      new ForgetfulParser(LIMITS, { serverName: new ServerName(), memory });
    expect(() => fuzz(responseParserHarness(planted), SEED, 50_000)).toThrow(
      /^response parser: round \d+ of FUZZ_SEED=\d+: /,
    );
  });

  it('in a decoder of frames that trips over its own memory', () => {
    const planted: typeof decodeInterval = (bytes) => {
      try {
        return decodeInterval(bytes);
      } catch (error) {
        if (error instanceof FrameError && error.message.includes('too many')) throw new RangeError('memory');
        throw error;
      }
    };
    expect(() => fuzz(frameHarness(planted), SEED, 20_000)).toThrow(/^interval frame: .*: memory$/);
  });

  it('in a reader of plans that says its mistakes on several lines', () => {
    const planted: typeof parsePlanText = (path, text) => {
      try {
        return parsePlanText(path, text);
      } catch (error) {
        if (error instanceof Error) error.message = error.message.replace('not valid', 'not\nvalid');
        throw error;
      }
    };
    expect(() => fuzz(planHarness(planted), SEED, 4_000)).toThrow(/^plan text: .*: more than one line/);
  });
});
