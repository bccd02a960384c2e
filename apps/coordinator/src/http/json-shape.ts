/**
 * A look at JSON text before it is parsed: parsing and checking millions of nested brackets takes seconds, in which
 * the coordinator hears no agent. One pass over the bytes, nothing kept.
 */
export interface JsonShape {
  /** Deepest nesting of arrays and objects. */
  readonly depth: number;
  /** Commas, colons and opening brackets outside of strings: about how many values there are. */
  readonly parts: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;

export function jsonShapeOf(bytes: Uint8Array): JsonShape {
  let depth = 0;
  let deepest = 0;
  let parts = 0;
  let isInString = false;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0;
    if (isInString) {
      if (byte === BACKSLASH) i++;
      else if (byte === QUOTE) isInString = false;
    } else if (byte === QUOTE) isInString = true;
    else if (byte === COMMA || byte === COLON) parts++;
    else if ((byte | 0x20) === 0x7b) {
      parts++;
      depth++;
      if (depth > deepest) deepest = depth;
    } else if ((byte | 0x20) === 0x7d) depth--;
  }
  return { depth: deepest, parts };
}
