/**
 * The text of a token that a coordinator has made:
 *
 *     broadside_user_ | 64 hexadecimal digits: 256 random bits | 8: CRC-32 of all before them
 *     broadside_agent_
 *
 * The beginning lets people and scanners of secrets recognise one, and tells the two kinds apart. The checksum
 * finds a token that was cut off or mistyped without asking anybody; it protects nothing.
 */
import { AGENT_ROLE, type TokenRole } from './role.js';

const BEGINNINGS = { user: 'broadside_user_', agent: 'broadside_agent_' } as const;
export type TokenKind = keyof typeof BEGINNINGS;

/** Random bytes in a token. */
export const TOKEN_SECRET_BYTES = 32;

const FORM = /^broadside_(user|agent)_([0-9a-f]{64})([0-9a-f]{8})$/;
const CRC32_POLYNOMIAL = 0xed_b8_83_20;

export function tokenKindOf(role: TokenRole): TokenKind {
  return role === AGENT_ROLE ? 'agent' : 'user';
}

/** @param secret TOKEN_SECRET_BYTES bytes of chance, from a source that is fit for secrets. */
export function tokenTextOf(kind: TokenKind, secret: Uint8Array): string {
  if (secret.length !== TOKEN_SECRET_BYTES) throw new RangeError('a token needs 32 random bytes');
  const digits = Array.from(secret, (byte) => byte.toString(16).padStart(2, '0')).join('');
  const text = BEGINNINGS[kind] + digits;
  return text + checksumOf(text);
}

/**
 * What a text says of itself: a made token of a kind, one that was damaged on its way, or something else, such as a
 * token that somebody chose.
 */
export function readTokenText(text: string): TokenKind | 'damaged' | 'other' {
  const match = FORM.exec(text);
  if (match?.[3] !== undefined && checksumOf(text.slice(0, -8)) === match[3]) {
    return match[1] === 'agent' ? 'agent' : 'user';
  }
  const isMade = Object.values(BEGINNINGS).some((beginning) => text.startsWith(beginning));
  return isMade ? 'damaged' : 'other';
}

/** CRC-32 (ISO 3309, as in zlib) of ASCII text. */
function checksumOf(text: string): string {
  let crc = ~0;
  for (let i = 0; i < text.length; i++) {
    crc ^= text.charCodeAt(i);
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? CRC32_POLYNOMIAL : 0);
  }
  return (~crc >>> 0).toString(16).padStart(8, '0');
}
