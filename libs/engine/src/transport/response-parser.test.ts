/** Long because each oddity of HTTP/1.x that must have a defined outcome is here. */
import { describe, expect, it } from 'vitest';
import { FUZZ_SEED, seededRandom } from '../testing/seeded-random.js';
import { ReplyMemory } from './reply-memory.js';
import { PARSED, ResponseParser } from './response-parser.js';
import { ServerName } from './server-name.js';

const LIMITS = { maxHeaderBytes: 8_192, maxBodyBytes: 1_000_000 };
const NAMES = Object.fromEntries(Object.entries(PARSED).map(([name, code]) => [code, name]));

interface Reply {
  result: string;
  status: number;
  body: number;
  wire: number;
  persists: boolean;
}

interface Reading {
  replies: Reply[];
  server: string;
}

/** Reads `bytes`, cut at the given positions, as one connection would until the first failure. */
function read(bytes: Uint8Array, cuts: readonly number[], isHead = false, limits = LIMITS): Reading {
  const serverName = new ServerName();
  const parser = new ResponseParser(limits, { serverName, memory: new ReplyMemory() });
  const replies: Reply[] = [];
  const note = (result: number): void => {
    const persists = result === PARSED.complete && parser.mayPersist;
    // How much was read of a reply that is refused depends on the pieces; all else must not.
    const isRefused = result === PARSED.malformed || result === PARSED.tooLarge;
    const body = isRefused ? 0 : parser.bodyBytes;
    const wire = isRefused ? 0 : parser.wireBytes;
    replies.push({ result: NAMES[result] ?? '?', status: parser.status, body, wire, persists });
  };
  parser.begin(isHead);
  let start = 0;
  for (const end of [...cuts, bytes.length]) {
    // Each piece comes in a buffer of its own, filled with rubbish around it, as after another connection.
    const buffer = new Uint8Array(end - start + 6).fill(0x35);
    buffer.set(bytes.subarray(start, end), 3);
    let position = 3;
    const stop = 3 + end - start;
    while (position < stop) {
      const result = parser.feed(buffer, position, stop);
      position = parser.position;
      if (result === PARSED.more) break;
      note(result);
      if (result !== PARSED.complete) return { replies, server: serverName.value };
      parser.begin(isHead);
    }
    start = end;
  }
  const last = parser.end();
  if (last !== PARSED.nothing) note(last);
  return { replies, server: serverName.value };
}

const bytesOf = (text: string): Uint8Array => Buffer.from(text, 'latin1');

/** Reads whole, byte by byte and split at every position, and expects the same each time. */
function readEveryWay(text: string, isHead = false, limits = LIMITS): Reading {
  const bytes = bytesOf(text);
  const whole = read(bytes, [], isHead, limits);
  expect(read(bytes, Array.from(bytes.keys()).slice(1), isHead, limits)).toEqual(whole);
  for (let cut = 1; cut < bytes.length; cut++) expect(read(bytes, [cut], isHead, limits)).toEqual(whole);
  return whole;
}

/** The only reply in `text`. */
function one(text: string, isHead = false, limits = LIMITS): Reply {
  const { replies } = readEveryWay(text, isHead, limits);
  expect(replies).toHaveLength(1);
  return replies[0] as Reply;
}

const head = (...lines: string[]): string => `${lines.join('\r\n')}\r\n\r\n`;

describe('ResponseParser: framing', () => {
  it('reads a counted body and keeps the connection of an HTTP/1.1 reply', () => {
    const text = `${head('HTTP/1.1 200 OK', 'Content-Length: 5')}hello`;
    expect(one(text)).toEqual({
      result: 'complete',
      status: 200,
      body: 5,
      wire: text.length,
      persists: true,
    });
  });

  it('separates replies that follow each other in one buffer', () => {
    const first = `${head('HTTP/1.1 200 OK', 'content-length: 3')}abc`;
    const text = `${first}${head('HTTP/1.1 404 Not Found', 'CONTENT-LENGTH:2')}no`;
    expect(readEveryWay(text).replies.map((r) => [r.status, r.body])).toEqual([
      [200, 3],
      [404, 2],
    ]);
  });

  it('accepts an empty body, an empty reason and no reason', () => {
    expect(one(head('HTTP/1.1 200 ', 'Content-Length: 0')).result).toBe('complete');
    expect(one(head('HTTP/1.1 200', 'Content-Length: 0')).status).toBe(200);
  });

  it('accepts lines that end in LF alone', () => {
    expect(one('HTTP/1.1 200 OK\nContent-Length: 2\n\nok')).toMatchObject({ result: 'complete', body: 2 });
    expect(one('HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n2\nok\n0\n\n')).toMatchObject({
      result: 'complete',
      body: 2,
    });
  });

  it('reads a body without length until the connection ends, and does not keep it', () => {
    expect(one(`${head('HTTP/1.1 200 OK')}abc`)).toMatchObject({
      result: 'complete',
      body: 3,
      persists: false,
    });
    expect(one(head('HTTP/1.0 200 OK', 'Connection: keep-alive'))).toMatchObject({
      body: 0,
      persists: false,
    });
  });

  it('expects no body after HEAD, 204 and 304 whatever the header promises', () => {
    const promise = ['Content-Length: 100', 'Transfer-Encoding: chunked'];
    for (const line of promise) {
      expect(one(head('HTTP/1.1 200 OK', line), true)).toMatchObject({ result: 'complete', body: 0 });
      expect(one(head('HTTP/1.1 204 No Content', line))).toMatchObject({ result: 'complete', body: 0 });
      expect(one(head('HTTP/1.1 304 Not Modified', line))).toMatchObject({ result: 'complete', body: 0 });
    }
  });

  it('skips interim replies and counts their bytes on the wire', () => {
    const interim = head('HTTP/1.1 100 Continue') + head('HTTP/1.1 103 Early Hints', 'Content-Length: 9');
    const text = `${interim}${head('HTTP/1.1 200 OK', 'Content-Length: 1')}x`;
    expect(one(text)).toEqual({
      result: 'complete',
      status: 200,
      body: 1,
      wire: text.length,
      persists: true,
    });
  });

  it('decodes chunks with extensions and trailers and counts the content only', () => {
    const body = '5;a="b;c"\r\nhello\r\n00A \r\n0123456789\r\n0\r\nX-Sum: 1\r\nY: 2\r\n\r\n';
    const text = head('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked') + body;
    expect(one(text)).toEqual({
      result: 'complete',
      status: 200,
      body: 15,
      wire: text.length,
      persists: true,
    });
  });

  it('lets chunked win over Content-Length, and does not keep such a connection', () => {
    const body = '3\r\nabc\r\n0\r\n\r\n';
    const lines = ['Content-Length: 7', 'Transfer-Encoding: chunked'];
    for (const order of [lines, lines.toReversed()]) {
      expect(one(head('HTTP/1.1 200 OK', ...order) + body)).toMatchObject({ body: 3, persists: false });
    }
    const old = head('HTTP/1.0 200 OK', 'Connection: keep-alive', 'Transfer-Encoding: chunked') + body;
    expect(one(old)).toMatchObject({ result: 'complete', body: 3, persists: false });
  });

  it('reads a body whose last coding is not chunked until the connection ends', () => {
    for (const value of ['gzip', 'identity', 'chunked, gzip', 'xchunked', 'chunkedx', 'chunk ed']) {
      const text = `${head('HTTP/1.1 200 OK', `Transfer-Encoding: ${value}`)}0\r\n\r\n`;
      expect(one(text)).toMatchObject({ result: 'complete', body: 5, persists: false });
    }
  });

  it('joins codings of several lines and cases', () => {
    const lines = ['transfer-encoding: gzip', 'TRANSFER-ENCODING:\t,CHUNKED ,'];
    const text = `${head('HTTP/1.1 200 OK', ...lines)}1\r\nx\r\n0\r\n\r\n`;
    expect(one(text)).toMatchObject({ result: 'complete', body: 1, persists: true });
  });
});

describe('ResponseParser: connection', () => {
  const reply = (version: string, ...lines: string[]): Reply =>
    one(head(`HTTP/${version} 200 OK`, 'Content-Length: 0', ...lines));

  it('persists by default in HTTP/1.1 and only on request in HTTP/1.0', () => {
    expect(reply('1.1').persists).toBe(true);
    expect(reply('1.0').persists).toBe(false);
    expect(reply('1.0', 'Connection: Keep-Alive').persists).toBe(true);
    expect(reply('1.7').persists).toBe(true);
  });

  it('finds close among other words and in any case', () => {
    for (const value of ['close', 'CLOSE', 'Upgrade, close', 'close ,x', ' , close', 'keep-alive, close']) {
      expect(reply('1.1', `Connection: ${value}`).persists).toBe(false);
    }
    for (const value of ['closed', 'xclose', 'clos', 'close x', 'close-it', 'keep', '']) {
      expect(reply('1.1', `Connection: ${value}`).persists).toBe(true);
    }
    expect(reply('1.0', 'Connection: xkeep-alive').persists).toBe(false);
    expect(reply('1.0', 'Connexion: keep-alive').persists).toBe(false);
  });
});

describe('ResponseParser: oddities that must not be read as something else', () => {
  const outcome = (text: string): string => one(text).result;

  it('refuses what is not an HTTP/1.x status line', () => {
    for (const line of [
      'HTTP/2.0 200 OK',
      'HTTP/1.1  200 OK',
      'HTTP/1.1 20 OK',
      'HTTP/1.1 2000 OK',
      'HTTP/1.1 +20 OK',
      'HTTP/1.1 099 Low',
      'HTTP/1.1 600 High',
      'HTTP/1.1 101 Switching Protocols',
      'HTTP/1.x 200 OK',
      'http/1.1 200 OK',
      'ICY 200 OK',
      '\r\nHTTP/1.1 200 OK',
      'garbage',
      '\0\0\0\0',
    ]) {
      expect(outcome(head(line, 'Content-Length: 0'))).toBe('malformed');
    }
  });

  it('accepts equal repeated lengths and refuses differing ones', () => {
    const lengths = (...values: string[]): string =>
      `${head('HTTP/1.1 200 OK', ...values.map((v) => `Content-Length: ${v}`))}abc`;
    expect(one(lengths('3', '3'))).toMatchObject({ result: 'complete', body: 3 });
    expect(one(lengths('3, 3'))).toMatchObject({ result: 'complete', body: 3 });
    expect(one(lengths('003 '))).toMatchObject({ result: 'complete', body: 3 });
    expect(outcome(lengths('3', '4'))).toBe('malformed');
    expect(outcome(lengths('3, 4'))).toBe('malformed');
  });

  it('refuses lengths that are no plain number', () => {
    for (const value of [
      '',
      '-1',
      '+3',
      '0x3',
      '3 3',
      '3;',
      '3a',
      ',',
      '3,',
      '1e3',
      '9007199254740992',
      '9'.repeat(400),
    ]) {
      expect(outcome(`${head('HTTP/1.1 200 OK', `Content-Length: ${value}`)}abc`)).toBe('malformed');
    }
  });

  it('reads the largest exact length, whose body is merely too large', () => {
    const of = (length: string): Reply => one(`${head('HTTP/1.1 200 OK', `Content-Length: ${length}`)}abc`);
    expect(of('9007199254740991').result).toBe('tooLarge');
    expect(of('9007199254740990').result).toBe('tooLarge');
  });

  it('refuses header lines without a name, without a colon or with a blank before it', () => {
    for (const line of [
      ': x',
      'no colon',
      'Content-Length : 3',
      'Content-Length',
      'X Y: 3',
      'Name\t: x',
      'C',
    ]) {
      expect(outcome(head('HTTP/1.1 200 OK', line, 'Content-Length: 0'))).toBe('malformed');
    }
  });

  it('skips a folded line unless it continues a field that matters', () => {
    const folded = (line: string): string => head('HTTP/1.1 200 OK', line, ' more: 5', 'Content-Length: 0');
    expect(one(folded('X-Text: a'))).toMatchObject({ result: 'complete', body: 0 });
    expect(one(folded('Server: a')).result).toBe('complete');
    expect(outcome(folded('Content-Length: 0'))).toBe('malformed');
    expect(outcome(folded('Transfer-Encoding: gzip'))).toBe('malformed');
    expect(outcome(folded('Connection: x'))).toBe('malformed');
    expect(outcome(head('HTTP/1.1 200 OK', ' first: 1', 'Content-Length: 0'))).toBe('malformed');
  });

  it('refuses chunked applied twice', () => {
    expect(outcome(head('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked, chunked'))).toBe('malformed');
    expect(
      outcome(head('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked', 'Transfer-Encoding: gzip, chunked')),
    ).toBe('malformed');
  });

  it('refuses broken chunk framing', () => {
    for (const body of [
      '\r\n',
      'g\r\n',
      '-1\r\n',
      '0x1\r\n',
      '1\r\nab\r\n',
      '1 1\r\n',
      '1\r2\n',
      '3\rabc',
      '00000000000001\r\n',
      '00000000000000\r\n',
      '1;a\rb\r\n',
    ]) {
      expect(outcome(head('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked') + body)).toBe('malformed');
    }
  });

  it('refuses a CR in the blank line that no LF follows', () => {
    expect(outcome('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\rX')).toBe('malformed');
  });
});

describe('ResponseParser: limits and early ends', () => {
  const limits = { maxHeaderBytes: 100, maxBodyBytes: 10 };

  it('stops at a header that is too large, also over interim replies', () => {
    const line = `X: ${'y'.repeat(200)}`;
    expect(one(head('HTTP/1.1 200 OK', line), false, limits).result).toBe('tooLarge');
    expect(one(head('HTTP/1.1 100 C').repeat(10), false, limits).result).toBe('tooLarge');
    const fitting = head('HTTP/1.1 204 N', `X: ${'y'.repeat(100 - 14 - 2 - 3 - 4)}`);
    expect(fitting).toHaveLength(100);
    expect(one(fitting, false, limits).result).toBe('complete');
  });

  it('stops at a body that is too large, at once where its size is announced', () => {
    expect(one(head('HTTP/1.1 200 OK', 'Content-Length: 11'), false, limits)).toMatchObject({
      result: 'tooLarge',
      body: 0,
    });
    expect(one(`${head('HTTP/1.1 200 OK')}${'x'.repeat(11)}`, false, { ...limits }).result).toBe('tooLarge');
    const chunked = head('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked');
    expect(one(`${chunked}6\r\nabcdef\r\n5\r\n`, false, limits).result).toBe('tooLarge');
    expect(one(`${chunked}1;${'x'.repeat(100)}\r\n`, false, limits).result).toBe('tooLarge');
    expect(one(`${chunked}0\r\n${'T: 1\r\n'.repeat(20)}`, false, limits).result).toBe('tooLarge');
  });

  it('accepts many small chunks whatever the header limit', () => {
    const text = `${head('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked')}${'1\r\nx\r\n'.repeat(300)}0\r\n\r\n`;
    expect(one(text, false, { maxHeaderBytes: 100, maxBodyBytes: 300 })).toMatchObject({
      result: 'complete',
      body: 300,
    });
  });

  it('tells an end before the reply from an end inside it', () => {
    const parser = new ResponseParser(LIMITS, { serverName: new ServerName(), memory: new ReplyMemory() });
    parser.begin(false);
    expect(parser.end()).toBe(PARSED.nothing);
    for (const text of [
      'H',
      head('HTTP/1.1 200 OK', 'Content-Length: 5'),
      `${head('HTTP/1.1 200 OK', 'Content-Length: 5')}abcd`,
      head('HTTP/1.1 100 C'),
      `${head('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked')}0\r\n`,
    ]) {
      expect(one(text).result).toBe('truncated');
    }
  });
});

describe('ResponseParser: server name', () => {
  const server = (value: string): string =>
    readEveryWay(head('HTTP/1.1 200 OK', 'X-Server: no', `sERVER:${value}`, 'Content-Length: 0')).server;

  it('keeps the value up to its first blank', () => {
    expect(server(' nginx/1.22.1')).toBe('nginx/1.22.1');
    expect(server('Odd/1.0 (Unix) x')).toBe('Odd/1.0');
    expect(server('')).toBe('');
    expect(server(`  ${'x'.repeat(500)}`)).toBe('x'.repeat(128));
  });

  it('keeps the first one that is seen', () => {
    const reply = (name: string): string => head('HTTP/1.1 200 OK', `Server: ${name}`, 'Content-Length: 0');
    expect(readEveryWay(reply('') + reply('first') + reply('second')).server).toBe('first');
  });
});

class Generator {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  upTo(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  pick<T>(values: readonly T[]): T {
    return values[this.upTo(values.length)] as T;
  }

  /** The same letters, each in either case. */
  anyCase(text: string): string {
    return Array.from(text, (c) => (this.upTo(2) === 0 ? c.toUpperCase() : c.toLowerCase())).join('');
  }

  /** Content that looks like protocol, to lead a wrong boundary astray. */
  content(length: number): string {
    const tempting = [
      'HTTP/1.1 200 OK\r\n',
      '\r\n\r\n',
      '0\r\n\r\n',
      'Content-Length: 3\r\n',
      'x',
      '\n',
      '\r',
      '\0',
    ];
    let text = '';
    while (text.length < length) text += this.pick(tempting);
    return text.slice(0, length);
  }

  /** A valid reply that leaves the connection usable, and what must be read from it. */
  reply(): { text: string; status: number; body: number } {
    const eol = this.pick(['\r\n', '\r\n', '\n']);
    const status = this.pick([200, 204, 304, 404, 500, 599]);
    const hasNoBody = status === 204 || status === 304;
    const body = hasNoBody ? 0 : this.upTo(300);
    const isChunked = this.upTo(2) === 0;
    const lines = [
      'X: y',
      'Date: now',
      'T: 1',
      'Cache: c',
      'Te: x',
      'Connection: x',
      `Set-Cookie: ${this.upTo(1e9)}`,
      'Server: s',
    ];
    const header = lines.filter(() => this.upTo(2) === 0);
    const framing = isChunked
      ? `${this.anyCase('Transfer-Encoding')}: ${this.anyCase('chunked')}`
      : `${this.anyCase('Content-Length')}:${' '.repeat(this.upTo(3))}${body}`;
    header.splice(this.upTo(header.length + 1), 0, framing);
    const interim = this.upTo(5) === 0 ? `HTTP/1.1 103 Early${eol}Link: x${eol}${eol}` : '';
    let text = `${interim}HTTP/1.1 ${status} Reason${eol}${header.map((l) => l + eol).join('')}${eol}`;
    if (hasNoBody) return { text, status, body };
    text += isChunked ? this.chunks(this.content(body), eol) : this.content(body);
    return { text, status, body };
  }

  chunks(content: string, eol: string): string {
    let text = '';
    for (let at = 0; at < content.length; ) {
      const size = 1 + this.upTo(content.length - at);
      const extension = this.pick(['', '', ';x', ';a=b', ' ']);
      text += `${this.anyCase(size.toString(16))}${extension}${eol}${content.slice(at, at + size)}${eol}`;
      at += size;
    }
    return `${text}0${eol}${this.pick(['', `X-Trailer: 1${eol}`])}${eol}`;
  }

  cuts(length: number): number[] {
    const cuts = new Set<number>();
    for (let i = this.upTo(12); i > 0; i--) cuts.add(1 + this.upTo(Math.max(length - 1, 1)));
    return [...cuts].filter((cut) => cut < length).sort((a, b) => a - b);
  }

  mutate(bytes: Uint8Array): Uint8Array {
    const copy = Uint8Array.from(bytes);
    const poison = [0, 9, 10, 13, 32, 44, 48, 57, 58, 59, 67, 84, 255];
    for (let i = 1 + this.upTo(3); i > 0; i--) copy[this.upTo(copy.length)] = this.pick(poison);
    return copy;
  }
}

describe(`ResponseParser: random input (FUZZ_SEED=${FUZZ_SEED})`, () => {
  it('reads concatenated valid replies as the same list whatever the split', () => {
    const generator = new Generator(FUZZ_SEED);
    for (let round = 0; round < 1_500; round++) {
      const replies = Array.from({ length: 1 + generator.upTo(6) }, () => generator.reply());
      const bytes = bytesOf(replies.map((r) => r.text).join(''));
      const reading = read(bytes, generator.cuts(bytes.length));
      expect(reading.replies.map((r) => [r.result, r.status, r.body, r.wire, r.persists])).toEqual(
        replies.map((r) => ['complete', r.status, r.body, r.text.length, true]),
      );
    }
  });

  it('reads damaged input the same way whatever the split, and never beyond its end', () => {
    const generator = new Generator(FUZZ_SEED + 1);
    for (let round = 0; round < 3_000; round++) {
      const text = Array.from({ length: 1 + generator.upTo(3) }, () => generator.reply().text).join('');
      const bytes = generator.mutate(bytesOf(text));
      const whole = read(bytes, []);
      expect(read(bytes, generator.cuts(bytes.length))).toEqual(whole);
      const manyCuts = round % 10 === 0 ? Array.from(bytes.keys()).slice(1) : [];
      expect(read(bytes, manyCuts)).toEqual(whole);
      const wire = whole.replies.reduce((sum, r) => sum + r.wire, 0);
      expect(wire).toBeLessThanOrEqual(bytes.length);
    }
  });

  it('reads replies the same way whether or not it has seen them before', () => {
    const generator = new Generator(FUZZ_SEED + 2);
    const buffer = new Uint8Array(4_096);
    const memory = new ReplyMemory();
    const serverName = new ServerName();
    const parser = new ResponseParser(LIMITS, { serverName, memory });
    let bytes = bytesOf(generator.reply().text);
    for (let round = 0; round < 6_000; round++) {
      const dice = generator.upTo(10);
      if (dice === 0) bytes = bytesOf(generator.reply().text);
      else if (dice === 1) bytes = generator.mutate(bytes);
      else if (dice === 2) bytes = bytes.slice(0, 1 + generator.upTo(bytes.length));
      const start = generator.pick([0, 0, 0, 4, 8, 1, 2]);
      buffer.fill(generator.upTo(256));
      buffer.set(bytes, start);
      const end = start + bytes.length;
      const outcome = (seen: ResponseParser): unknown[] => {
        seen.begin(false);
        const result = seen.feed(buffer, start, end);
        const isComplete = result === PARSED.complete;
        return [
          result,
          ...(isComplete
            ? [seen.status, seen.bodyBytes, seen.wireBytes, seen.position, seen.mayPersist]
            : []),
        ];
      };
      const fresh = new ResponseParser(LIMITS, { serverName: new ServerName(), memory: new ReplyMemory() });
      expect(outcome(parser)).toEqual(outcome(fresh));
    }
  });
});
