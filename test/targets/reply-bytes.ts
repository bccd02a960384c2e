import type { TargetRequest } from './request-reader.js';

export interface ReplyParts {
  readonly status?: string;
  readonly version?: '1.0' | '1.1';
  readonly headers?: readonly (readonly [name: string, value: string])[];
}

/** A header block, blank line included; `200 OK` over HTTP/1.1 unless told. */
export function head(parts: ReplyParts = {}): string {
  const lines = [`HTTP/${parts.version ?? '1.1'} ${parts.status ?? '200 OK'}`];
  for (const [name, value] of parts.headers ?? []) lines.push(`${name}: ${value}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** A body of so many bytes, the same at every call. */
export function bodyOf(sizeBytes: number): Buffer {
  return Buffer.alloc(sizeBytes, 'broadside ');
}

/** One chunk in chunked coding (RFC 9112 section 7.1). */
export function chunk(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

export const lastChunk = Buffer.from('0\r\n\r\n');

/** The Connection line of a server that keeps to the rules of 1.0 and 1.1. */
export function connectionHeader(
  request: TargetRequest,
  isClosing = !request.isKeptAlive,
): readonly (readonly [string, string])[] {
  if (isClosing) return [['Connection', 'close']];
  return request.version === '1.0' ? [['Connection', 'keep-alive']] : [];
}
