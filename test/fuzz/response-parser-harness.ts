import { ReplyMemory } from '../../libs/engine/dist/transport/reply-memory.js';
import { PARSED, ResponseParser } from '../../libs/engine/dist/transport/response-parser.js';
import { ServerName } from '../../libs/engine/dist/transport/server-name.js';
import { type Chance, type FuzzHarness, mutate } from './fuzz-harness.js';
import { type ReplySample, replySample } from './reply-samples.js';

const LIMITS = { maxHeaderBytes: 600, maxBodyBytes: 200 };
const SAMPLES = 256;
const MAX_BYTES = 2_048;
/** Replies, and what each is described by: result, status, body, bytes on the wire, persistence, end. */
const FIELDS = 6;

type NewParser = (memory: ReplyMemory) => ResponseParser;

/**
 * Whole samples must end where they were made to end. Mutated ones may mean anything, but the same in one piece and
 * in any pieces, within the limits, and every call must come back with all bytes used or with a result.
 * @param newParser makes the parser under test.
 */
export function responseParserHarness(newParser: NewParser = realParser): FuzzHarness {
  return {
    name: 'response parser',
    shortRounds: 300_000,
    longRounds: 12_000_000,
    begin: (chance) => {
      const samples = Array.from({ length: SAMPLES }, () => replySample(chance));
      // One memory for each kind, as in a shard: what was read before must not change what is read now.
      const [forHead, forOthers] = [new ReplyMemory(), new ReplyMemory()];
      const reader = (memory: ReplyMemory) => new PieceReader(newParser(memory), chance);
      const readers = [
        { whole: reader(forHead), split: reader(forHead) },
        { whole: reader(forOthers), split: reader(forOthers) },
      ] as const;
      const bytes = new Uint8Array(MAX_BYTES);
      return () => {
        const slot = chance.below(SAMPLES);
        if (chance.isOneIn(16)) samples[slot] = replySample(chance);
        const sample = samples[slot] ?? replySample(chance);
        const { whole, split } = readers[sample.isHead ? 0 : 1];
        bytes.set(sample.bytes);
        if (chance.isOneIn(4)) {
          split.read(bytes, sample.bytes.length, sample.isHead, true);
          expectSample(split, sample);
          return;
        }
        const length = mutate(bytes, sample.bytes.length, chance);
        whole.read(bytes, length, sample.isHead, false);
        split.read(bytes, length, sample.isHead, true);
        expectSame(whole, split, () => Buffer.from(bytes.subarray(0, length)).toString('latin1'));
      };
    },
  };
}

function realParser(memory: ReplyMemory): ResponseParser {
  return new ResponseParser(LIMITS, { serverName: new ServerName(), memory });
}

/** Reads bytes as one connection would until the first failure, and keeps what it found. */
class PieceReader {
  readonly found = new Float64Array(FIELDS * 64);
  replies = 0;
  readonly #parser: ResponseParser;
  readonly #chance: Chance;
  readonly #buffer = new Uint8Array(MAX_BYTES + 8);

  constructor(parser: ResponseParser, chance: Chance) {
    this.#parser = parser;
    this.#chance = chance;
  }

  read(bytes: Uint8Array, length: number, isHead: boolean, isSplit: boolean): void {
    const parser = this.#parser;
    this.replies = 0;
    parser.begin(isHead);
    for (let start = 0; start < length; ) {
      const size = isSplit ? this.#pieceSize(length - start) : length;
      const offset = isSplit ? this.#chance.below(8) : 0;
      this.#buffer.set(bytes.subarray(start, start + size), offset);
      const stop = offset + size;
      for (let position = offset; position < stop; ) {
        const result = parser.feed(this.#buffer, position, stop);
        const isStuck = parser.position <= position && (result === PARSED.more || result === PARSED.complete);
        if (isStuck || parser.position < position || parser.position > stop) {
          throw new Error(`a call that began at ${position} of ${stop} ended at ${parser.position}`);
        }
        position = parser.position;
        if (result === PARSED.more) {
          if (position !== stop) throw new Error(`wants more with ${stop - position} bytes unread`);
          break;
        }
        this.#note(result, start + position - offset);
        if (result !== PARSED.complete) return;
        parser.begin(isHead);
      }
      start += size;
    }
    this.#note(parser.end(), length);
  }

  /** Mostly small, so that most edges are met. */
  #pieceSize(left: number): number {
    const most = this.#chance.isOneIn(3) ? left : 12;
    return Math.min(1 + this.#chance.below(most), left);
  }

  #note(result: number, end: number): void {
    const { status, bodyBytes, wireBytes, mayPersist } = this.#parser;
    const isRefused = result === PARSED.malformed || result === PARSED.tooLarge;
    if (!isRefused && bodyBytes > LIMITS.maxBodyBytes)
      throw new Error(`a body of ${bodyBytes} bytes was accepted`);
    const at = (this.replies++ % 64) * FIELDS;
    this.found[at] = result;
    // How much was read of a reply that is refused depends on the pieces; all else must not.
    this.found[at + 1] = isRefused ? 0 : status;
    this.found[at + 2] = isRefused ? 0 : bodyBytes;
    this.found[at + 3] = isRefused ? 0 : wireBytes;
    this.found[at + 4] = result === PARSED.complete && mayPersist ? 1 : 0;
    this.found[at + 5] = isRefused ? 0 : end;
  }
}

function expectSame(whole: PieceReader, split: PieceReader, text: () => string): void {
  const values = Math.min(whole.replies, 64) * FIELDS;
  let isSame = whole.replies === split.replies;
  for (let i = 0; i < values && isSame; i++) isSame = whole.found[i] === split.found[i];
  if (isSame) return;
  throw new Error(
    `read as ${listOf(whole)} in one piece and as ${listOf(split)} in several: ${JSON.stringify(text())}`,
  );
}

function expectSample(reader: PieceReader, sample: ReplySample): void {
  const { ends, bodyBytes, bytes } = sample;
  let isRight = reader.replies === ends.length + 1;
  for (let i = 0; i < ends.length && isRight; i++) {
    const at = i * FIELDS;
    isRight =
      reader.found[at] === PARSED.complete &&
      reader.found[at + 2] === bodyBytes[i] &&
      reader.found[at + 5] === ends[i];
  }
  if (isRight && reader.found[ends.length * FIELDS] === PARSED.nothing) return;
  const text = JSON.stringify(Buffer.from(bytes).toString('latin1'));
  throw new Error(`replies that end at ${ends.join(', ')} were read as ${listOf(reader)}: ${text}`);
}

function listOf({ found, replies }: PieceReader): string {
  const rows = Array.from({ length: Math.min(replies, 64) }, (_, i) =>
    [...found.subarray(i * FIELDS, (i + 1) * FIELDS)].join('/'),
  );
  return `[${rows.join(' ')}]`;
}
