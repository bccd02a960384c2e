import type { Chance } from './fuzz-harness.js';

/** Several replies in a row, with the bytes at which each of them must end. */
export interface ReplySample {
  readonly bytes: Uint8Array;
  readonly ends: readonly number[];
  /** Body length of each, framing removed. */
  readonly bodyBytes: readonly number[];
  /** Whether all are replies to HEAD. */
  readonly isHead: boolean;
}

/** Well-formed replies of every framing, one to four behind each other as in a pipeline. */
export function replySample(chance: Chance): ReplySample {
  const isHead = chance.isOneIn(8);
  let text = '';
  const ends: number[] = [];
  const bodyBytes: number[] = [];
  for (let left = 1 + chance.below(4); left > 0; left--) {
    const reply = replyText(chance, isHead);
    text += reply.text;
    ends.push(text.length);
    bodyBytes.push(isHead ? 0 : reply.bodyBytes);
  }
  return { bytes: Buffer.from(text, 'latin1'), ends, bodyBytes, isHead };
}

interface ReplyText {
  readonly text: string;
  readonly bodyBytes: number;
}

const OTHER_LINES = [
  'Server: nginx/1.22.1',
  'Date: Mon, 30 Nov 2026 10:00:00 GMT',
  'Content-Type: text/html; charset=utf-8',
  'Connection: keep-alive',
  'connection: Close',
  'ETag: "x:y"',
  'X-Empty:',
  'Set-Cookie: a=b; Path=/\r\n folded: 5',
  'Trailer: Content-Length',
  'Content-Lengthy: 7',
  'Transfer-Encodings: chunked',
];

function replyText(chance: Chance, isHead: boolean): ReplyText {
  const eol = chance.isOneIn(6) ? '\n' : '\r\n';
  const lines: string[] = [];
  for (let left = chance.below(5); left > 0; left--) lines.push(chance.pick(OTHER_LINES));
  const interim = chance.isOneIn(10) ? `HTTP/1.1 100 Continue${eol}X: y${eol}${eol}` : '';
  if (chance.isOneIn(8))
    return whole(['HTTP/1.1 304 Not Modified', 'Content-Length: 99', ...lines], interim, eol);
  const body = 'HTTP/1.1 200 OK\r\n\r\n0\r\n\r\n'.repeat(3).slice(0, chance.below(60));
  const status = `HTTP/1.${chance.isOneIn(8) ? 0 : 1} ${chance.pick(['200 OK', '404 Not Found', '500', '599 '])}`;
  if (chance.isOneIn(2)) {
    const length = chance.isOneIn(6) ? `${body.length}, ${body.length}` : `${body.length}`;
    const { text } = whole([status, ...lines, `Content-Length: ${length}`], interim, eol);
    return { text: isHead ? text : text + body, bodyBytes: body.length };
  }
  const { text } = whole(
    [status, `transfer-encoding: ${chance.pick(['chunked', 'Chunked ', 'gzip, chunked'])}`, ...lines],
    interim,
    eol,
  );
  return { text: isHead ? text : text + chunked(body, chance, eol), bodyBytes: body.length };
}

function whole(lines: readonly string[], before: string, eol: string): ReplyText {
  return { text: `${before}${lines.join(eol)}${eol}${eol}`, bodyBytes: 0 };
}

function chunked(body: string, chance: Chance, eol: string): string {
  let text = '';
  for (let at = 0; at < body.length; ) {
    const size = Math.min(1 + chance.below(30), body.length - at);
    const extension = chance.isOneIn(5) ? ';name="a\tb"' : '';
    const digits = size.toString(16).padStart(1 + chance.below(3), '0');
    text += `${digits}${extension}${eol}${body.slice(at, at + size)}${eol}`;
    at += size;
  }
  const trailer = chance.isOneIn(5) ? `Content-Length: 7${eol}` : '';
  return `${text}0${eol}${trailer}${eol}`;
}
