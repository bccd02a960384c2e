import { expect, it } from 'vitest';
import { ReplyMemory } from './reply-memory.js';

const buffer = new Uint8Array(256);

function write(text: string, start = 0): { buffer: Uint8Array; start: number; end: number } {
  buffer.set(Buffer.from(text, 'latin1'), start);
  return { buffer, start, end: start + text.length };
}

function isSame(memory: ReplyMemory, text: string, start = 0): boolean {
  const piece = write(text, start);
  return memory.isSame(piece.buffer, piece.start, piece.end);
}

function remembering(header: string, body: string): ReplyMemory {
  const memory = new ReplyMemory();
  memory.remember({ status: 200, bodyBytes: body.length, mayPersist: true }, write(header + body));
  return memory;
}

it('recognises the same header with any body of the same length, for every header length', () => {
  for (const header of ['head', 'head1', 'head12', 'head123', 'head1234']) {
    const memory = remembering(header, 'body');
    expect(isSame(memory, `${header}body`)).toBe(true);
    expect(isSame(memory, `${header}BODY`)).toBe(true);
    expect(isSame(memory, `${header}body`, 8)).toBe(true);
    expect(memory).toMatchObject({ status: 200, bodyBytes: 4, mayPersist: true });
  }
});

it('sees a difference in each byte of the header', () => {
  const header = 'HTTP/1.1 200 OK\r\n\r\n';
  for (let i = 0; i < header.length; i++) {
    const changed = `${header.slice(0, i)}#${header.slice(i + 1)}`;
    expect(isSame(remembering(header, 'xyz'), `${changed}xyz`)).toBe(false);
  }
});

it('wants the whole reply, wherever it begins and whatever follows it in the piece', () => {
  for (const header of ['head', 'head1', 'head12', 'head123']) {
    const memory = remembering(header, 'body');
    expect(memory.replyBytes).toBe(header.length + 4);
    expect(isSame(memory, `${header}bod`)).toBe(false);
    for (let start = 0; start < 8; start++) {
      expect(isSame(memory, `${header}bodyHTTP/1.1`, start)).toBe(true);
      expect(isSame(memory, `${header.slice(0, -1)}#body`, start)).toBe(false);
    }
  }
});

it('remembers a reply that begins between two words', () => {
  const memory = new ReplyMemory();
  memory.remember({ status: 204, bodyBytes: 0, mayPersist: true }, write('HTTP/1.1 204', 3));
  expect(isSame(memory, 'HTTP/1.1 204', 6)).toBe(true);
  expect(isSame(memory, 'HTTP/1.1 200', 6)).toBe(false);
});

it('stops to compare when every header is different, and begins again when they repeat', () => {
  const memory = new ReplyMemory();
  const reply = { status: 200, bodyBytes: 0, mayPersist: true };
  const see = (text: string): boolean => {
    if (isSame(memory, text)) return true;
    memory.remember(reply, write(text));
    return false;
  };
  for (let i = 0; i < 500; i++) expect(see(`header ${1_000 + i}`)).toBe(false);
  const seen = Array.from({ length: 200 }, () => see('header same'));
  expect(seen[0]).toBe(false);
  expect(seen.at(-1)).toBe(true);
});
