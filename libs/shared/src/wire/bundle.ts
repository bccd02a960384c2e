/**
 * Several interval frames of one agent in one message (docs/PROTOCOL.md). Each stays what it is, with its own shard,
 * attempt and number: fencing, order and the books are those of single frames. Only messages become fewer.
 *
 *   "BS" 3 version │ number of frames │ (length, interval frame) …
 */
import { LIMITS } from '../limits.js';
import { formatCounted } from '../units.js';
import { ByteReader, FrameError } from './byte-reader.js';
import { ByteWriter } from './byte-writer.js';
import { PROTOCOL_VERSION } from './protocol-version.js';

const MAGIC_B = 0x42;
const MAGIC_S = 0x53;
const KIND_BUNDLE = 3;

/** @param frames of intervals, 1 to `maxBundledFrames`. */
export function encodeBundle(frames: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const writer = new ByteWriter(frames.reduce((sum, { length }) => sum + length + 4, 16));
  writer.u8(MAGIC_B);
  writer.u8(MAGIC_S);
  writer.u8(KIND_BUNDLE);
  writer.varint(PROTOCOL_VERSION);
  writer.varint(frames.length);
  for (const frame of frames) {
    writer.varint(frame.length);
    writer.bytes(frame);
  }
  return writer.finish();
}

/**
 * The frames of a binary message: those of a bundle, else the message itself. What they hold is not looked at.
 * @returns views of the message.
 * @throws FrameError when it is a bundle that does not hold what it says.
 */
export function framesOf(message: Uint8Array): Uint8Array[] {
  if (message[0] !== MAGIC_B || message[1] !== MAGIC_S || message[2] !== KIND_BUNDLE) return [message];
  const reader = new ByteReader(message);
  for (const what of ['magic', 'magic', 'kind']) reader.u8(what);
  const version = reader.varint('version');
  // Agent and coordinator speak the same version, and no bundle is ever stored.
  if (version !== PROTOCOL_VERSION) throw new FrameError(`frame: bundle of protocol version ${version}`);
  const count = reader.varint('number of frames');
  if (count < 1 || count > LIMITS.maxBundledFrames)
    throw new FrameError(`frame: ${formatCounted(count, 'frame')} in a bundle`);
  const frames = Array.from({ length: count }, () => reader.bytes(reader.varint('length'), 'bundled frame'));
  if (!reader.isAtEnd) throw new FrameError(`frame: ${formatCounted(reader.remaining, 'byte')} too many`);
  return frames;
}
