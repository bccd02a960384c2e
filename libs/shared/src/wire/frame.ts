/**
 * Binary form of an interval, and of a shard's totals (docs/PROTOCOL.md).
 *
 *   "BS" kind version │ run id, shard, attempt │ number, span, flags │ counters │ status codes │ gauges │ histograms
 *
 * kind is 1 for an interval, 2 for totals. Integers are LEB128 varints. Counters, gauges and histograms come in
 * the order of their name lists, with their number in front, so that a list that grew is told from garbage.
 * A histogram is its moments and (index delta, count) pairs in rising order. The decoder trusts nothing: sizes,
 * order, ranges and the agreement of buckets and extremes are checked, and trailing bytes are refused.
 */

import { LIMITS } from '../limits.js';
import { COUNTER, COUNTER_NAMES, type Counters, countersOfVersion } from '../metrics/counters.js';
import {
  BUCKET_COUNT,
  bucketIndexOf,
  EMPTY_SPARSE_HISTOGRAM,
  HIGHEST_VALUE_US,
  type SparseHistogram,
} from '../metrics/histogram.js';
import {
  GAUGE_NAMES,
  HISTOGRAM_NAMES,
  type Interval,
  type Observations,
  type ShardAttempt,
  type ShardTotals,
} from '../metrics/interval.js';
import { formatCounted } from '../units.js';
import { ByteReader, FrameError } from './byte-reader.js';
import { ByteWriter } from './byte-writer.js';
import { ObservationArrays } from './observation-arrays.js';
import { OLDEST_READABLE_FRAME, PROTOCOL_VERSION } from './protocol-version.js';

const MAGIC_B = 0x42;
const MAGIC_S = 0x53;
const KIND_INTERVAL = 1;
const KIND_TOTALS = 2;
const FLAG_LAST = 1;
const FLAG_WARMUP = 2;

export function encodeInterval(interval: Interval): Uint8Array<ArrayBuffer> {
  const writer = new ByteWriter();
  writeHead(writer, KIND_INTERVAL, interval);
  writer.varint(interval.number);
  writer.varint(interval.span);
  writer.u8((interval.isLast ? FLAG_LAST : 0) | (interval.isWarmup === true ? FLAG_WARMUP : 0));
  writeObservations(writer, interval);
  return writer.finish();
}

export function encodeTotals(totals: ShardTotals): Uint8Array<ArrayBuffer> {
  const writer = new ByteWriter();
  writeHead(writer, KIND_TOTALS, totals);
  writer.varint(totals.intervals);
  writeObservations(writer, totals);
  return writer.finish();
}

/** @throws FrameError when the bytes are not an interval frame of a version that can be read. */
export function decodeInterval(bytes: Uint8Array): Interval {
  return readInterval(bytes, new ObservationArrays());
}

/**
 * Decodes interval frames into arrays that it uses again and again. For whoever adds thousands of frames up: most of
 * their cost was the collection of arrays that had lived for a microsecond.
 */
export class IntervalDecoder {
  readonly #arrays = new ObservationArrays();

  /**
   * @returns an interval whose counters, gauges and histograms live until the next call: add them up, keep none.
   * @throws FrameError when the bytes are not an interval frame of a version that can be read.
   */
  decode(bytes: Uint8Array): Interval {
    this.#arrays.reuse();
    return readInterval(bytes, this.#arrays);
  }
}

function readInterval(bytes: Uint8Array, arrays: ObservationArrays): Interval {
  const reader = new ByteReader(bytes);
  const { attempt, version } = readHead(reader, KIND_INTERVAL);
  const number = reader.varint('interval number');
  const span = reader.varint('interval span');
  if (span < 1 || number + span > Number.MAX_SAFE_INTEGER)
    throw new FrameError('frame: interval span is wrong');
  const flags = reader.u8('flags');
  if (flags > (FLAG_LAST | FLAG_WARMUP)) throw new FrameError(`frame: unknown flags ${flags}`);
  const observations = readObservations(reader, version, arrays);
  const isLast = (flags & FLAG_LAST) !== 0;
  const warmup = (flags & FLAG_WARMUP) === 0 ? {} : { isWarmup: true };
  return { ...attempt, number, span, isLast, ...warmup, ...observations };
}

/** @throws FrameError when the bytes are not a totals frame of a version that can be read. */
export function decodeTotals(bytes: Uint8Array): ShardTotals {
  const reader = new ByteReader(bytes);
  const { attempt, version } = readHead(reader, KIND_TOTALS);
  const intervals = reader.varint('number of intervals');
  return { ...attempt, intervals, ...readObservations(reader, version, new ObservationArrays()) };
}

function writeHead(writer: ByteWriter, kind: number, attempt: ShardAttempt): void {
  writer.u8(MAGIC_B);
  writer.u8(MAGIC_S);
  writer.u8(kind);
  writer.varint(PROTOCOL_VERSION);
  writer.ascii(attempt.runId);
  writer.varint(attempt.shardIndex);
  writer.varint(attempt.attempt);
}

function readHead(reader: ByteReader, wantedKind: number): { attempt: ShardAttempt; version: number } {
  if (reader.remaining > LIMITS.maxFrameBytes) throw new FrameError('frame: too large');
  if (reader.u8('magic') !== MAGIC_B || reader.u8('magic') !== MAGIC_S)
    throw new FrameError('frame: wrong magic');
  const kind = reader.u8('kind');
  if (kind !== wantedKind) throw new FrameError(`frame: kind ${kind} where ${wantedKind} was expected`);
  const version = reader.varint('version');
  if (version < OLDEST_READABLE_FRAME || version > PROTOCOL_VERSION) {
    throw new FrameError(`frame: protocol version ${version}, this side speaks ${PROTOCOL_VERSION}`);
  }
  const runId = reader.ascii('run id');
  const shardIndex = reader.varint('shard index');
  const attempt = reader.varint('attempt');
  if (shardIndex >= LIMITS.maxShards) throw new FrameError(`frame: shard index ${shardIndex} is too large`);
  if (attempt < 1) throw new FrameError('frame: attempt is wrong');
  return { attempt: { runId, shardIndex, attempt }, version };
}

function writeObservations(writer: ByteWriter, seen: Observations): void {
  writer.varint(COUNTER_NAMES.length);
  for (let i = 0; i < COUNTER_NAMES.length; i++) writer.varint(seen.counters[i] ?? 0);
  writer.varint(seen.statusCounts.size);
  for (const [code, count] of seen.statusCounts) {
    writer.varint(code);
    writer.varint(count);
  }
  writer.varint(GAUGE_NAMES.length);
  for (let i = 0; i < GAUGE_NAMES.length; i++) writer.f64(seen.gauges[i] ?? 0);
  writer.varint(HISTOGRAM_NAMES.length);
  for (let i = 0; i < HISTOGRAM_NAMES.length; i++) {
    writeHistogram(writer, seen.histograms[i] ?? EMPTY_SPARSE_HISTOGRAM);
  }
}

function readObservations(reader: ByteReader, version: number, arrays: ObservationArrays): Observations {
  const { counters, gauges } = arrays;
  readCounters(reader, version, counters);
  const statusCounts = readStatusCounts(reader);
  expectCount(reader, 'gauges', GAUGE_NAMES.length);
  for (let i = 0; i < gauges.length; i++) {
    const value = reader.f64(GAUGE_NAMES[i] ?? 'gauge');
    if (!Number.isFinite(value)) throw new FrameError(`frame: ${GAUGE_NAMES[i]} is not a number`);
    gauges[i] = value;
  }
  expectCount(reader, 'histograms', HISTOGRAM_NAMES.length);
  const histograms = HISTOGRAM_NAMES.map((name) => readHistogram(reader, name, arrays));
  if (!reader.isAtEnd) throw new FrameError(`frame: ${formatCounted(reader.remaining, 'byte')} too many`);
  return { counters, statusCounts, gauges, histograms };
}

function readCounters(reader: ByteReader, version: number, counters: Counters): void {
  if (version === PROTOCOL_VERSION) {
    expectCount(reader, 'counters', COUNTER_NAMES.length);
    for (let i = 0; i < counters.length; i++) counters[i] = reader.varint(COUNTER_NAMES[i] ?? 'counter');
    return;
  }
  const names = countersOfVersion(version);
  expectCount(reader, 'counters', names.length);
  counters.fill(0);
  for (const name of names) counters[COUNTER[name]] = reader.varint(name);
}

function readStatusCounts(reader: ByteReader): Map<number, number> {
  const size = reader.varint('number of status codes');
  if (size > LIMITS.maxStatusCodes) throw new FrameError(`frame: ${size} status codes are too many`);
  const statusCounts = new Map<number, number>();
  for (let i = 0; i < size; i++) {
    const code = reader.varint('status code');
    if (code < 100 || code > 999 || statusCounts.has(code))
      throw new FrameError(`frame: status code ${code} is wrong`);
    statusCounts.set(code, reader.varint('status count'));
  }
  return statusCounts;
}

function expectCount(reader: ByteReader, what: string, wanted: number): void {
  const count = reader.varint(`number of ${what}`);
  if (count !== wanted) throw new FrameError(`frame: ${count} ${what}, this side knows ${wanted}`);
}

function writeHistogram(writer: ByteWriter, histogram: SparseHistogram): void {
  const { indexes, counts } = histogram;
  writer.varint(indexes.length);
  if (indexes.length === 0) return;
  writer.varint(histogram.minUs);
  writer.varint(histogram.maxUs);
  writer.varint(histogram.sumUs);
  writer.f64(histogram.sumOfSquaresUs2);
  let previous = -1;
  for (let i = 0; i < indexes.length; i++) {
    const index = indexes[i] ?? 0;
    writer.varint(index - previous - 1);
    writer.varint(counts[i] ?? 0);
    previous = index;
  }
}

function readHistogram(reader: ByteReader, name: string, arrays: ObservationArrays): SparseHistogram {
  const size = reader.varint(`${name}: number of buckets`);
  if (size === 0) return EMPTY_SPARSE_HISTOGRAM;
  // Each bucket takes at least two bytes: a claim beyond that is refused before memory is taken for it.
  if (size > BUCKET_COUNT || size * 2 > reader.remaining)
    throw new FrameError(`frame: ${name} has too many buckets`);
  const minUs = reader.varint(`${name}: minimum`);
  const maxUs = reader.varint(`${name}: maximum`);
  const sumUs = reader.varint(`${name}: sum`);
  const sumOfSquaresUs2 = reader.f64(`${name}: sum of squares`);
  if (minUs > maxUs || maxUs > HIGHEST_VALUE_US)
    throw new FrameError(`frame: ${name} has impossible extremes`);
  if (!Number.isFinite(sumOfSquaresUs2) || sumOfSquaresUs2 < 0)
    throw new FrameError(`frame: ${name} has no sum of squares`);
  const { indexes, counts } = arrays.buckets(size, reader.remaining);
  let index = -1;
  // Made once: a text for each of a thousand buckets took longer than reading them.
  const [bucketName, countName] = [`${name}: bucket`, `${name}: count`];
  for (let i = 0; i < size; i++) {
    index += reader.varint(bucketName) + 1;
    if (index >= BUCKET_COUNT) throw new FrameError(`frame: ${name} has a bucket out of range`);
    const count = reader.varint(countName);
    if (count === 0) throw new FrameError(`frame: ${name} has an empty bucket`);
    indexes[i] = index;
    counts[i] = count;
  }
  if (bucketIndexOf(minUs) !== indexes[0] || bucketIndexOf(maxUs) !== index)
    throw new FrameError(`frame: ${name} has extremes outside of its buckets`);
  return { indexes, counts, minUs, maxUs, sumUs, sumOfSquaresUs2 };
}
