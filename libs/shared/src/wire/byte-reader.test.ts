import { describe, expect, it } from 'vitest';
import { FUZZ_SEED, Random } from '../testing/random.js';
import { ByteReader, FrameError } from './byte-reader.js';
import { ByteWriter } from './byte-writer.js';

describe('ByteReader.varint', () => {
  it(`reads what was written, up to 2^53 − 1 (seed ${FUZZ_SEED})`, () => {
    const random = new Random(FUZZ_SEED);
    const edges = Array.from({ length: 53 }, (_, bit) => [2 ** bit - 1, 2 ** bit]).flat();
    const values = [
      ...edges,
      2 ** 53 - 1,
      ...Array.from({ length: 500 }, () => random.magnitude(2 ** 53 - 1)),
    ];
    const writer = new ByteWriter();
    for (const value of values) writer.varint(value);
    const reader = new ByteReader(writer.finish());
    expect(values.map(() => reader.varint('value'))).toEqual(values);
    expect(reader.isAtEnd).toBe(true);
  });

  it.each([
    ['2^53', [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10]],
    ['eight full bytes', [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]],
    ['nine bytes, however small the value', [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00]],
  ])('refuses %s', (_, bytes) => {
    expect(() => new ByteReader(Uint8Array.from(bytes)).varint('count')).toThrow(
      /^frame: count is too large/,
    );
  });

  it('says what is missing, and where', () => {
    const reader = new ByteReader(Uint8Array.of(0x01, 0x80));
    reader.varint('first');
    expect(() => reader.varint('second')).toThrow('frame: second is missing (at byte 2 of 2)');
  });
});

describe('ByteReader', () => {
  it('refuses a double or a text that is cut off', () => {
    expect(() => new ByteReader(new Uint8Array(7)).f64('gauge')).toThrow(FrameError);
    expect(() => new ByteReader(Uint8Array.of(3, 65, 66)).ascii('name')).toThrow('frame: name is cut off');
  });

  it('reads a view that does not begin where its buffer does', () => {
    const writer = new ByteWriter();
    writer.u8(0);
    writer.f64(-1.5);
    writer.ascii('run-1');
    const reader = new ByteReader(writer.finish().subarray(1));
    expect(reader.f64('gauge')).toBe(-1.5);
    expect(reader.ascii('name')).toBe('run-1');
  });
});
