import { describe, expect, it } from 'vitest';
import {
  channelOf,
  closeStatementsMessage,
  concatBytes,
  FrontendReader,
  fatalError,
  greeting,
  isClientCopy,
  listenChangeOf,
  MAX_MESSAGE_BYTES,
  prefixStatementName,
  queryMessage,
  readBackendMessages,
  sqlOf,
  transactionStatusOf,
  WireProtocolError,
} from './wire-protocol.js';

const text = new TextEncoder();

function message(type: string, body: string | Uint8Array): Uint8Array {
  const bytes = typeof body === 'string' ? text.encode(body) : body;
  const head = new Uint8Array(5);
  head[0] = type.charCodeAt(0);
  new DataView(head.buffer).setInt32(1, 4 + bytes.length);
  return concatBytes([head, bytes]);
}

function startUp(code: number, body = ''): Uint8Array {
  const head = new Uint8Array(8);
  const view = new DataView(head.buffer);
  view.setInt32(0, 8 + body.length);
  view.setInt32(4, code);
  return concatBytes([head, text.encode(body)]);
}

const stream = concatBytes([
  startUp(196_608, 'user\0a\0\0'),
  queryMessage('select 1'),
  message('P', 'name\0select $1\0\0\0'),
  message('S', ''),
]);

function first(bytes: Uint8Array) {
  const [only] = readBackendMessages(bytes);
  if (only === undefined) throw new Error('no message');
  return only;
}

describe('FrontendReader', () => {
  const whole = new FrontendReader().read(stream).map(({ type, bytes }) => [type, [...bytes]]);

  it('reads the start-up packet and then typed messages', () => {
    expect(whole.map(([type]) => type)).toEqual(['start-up', 'Q', 'P', 'S']);
  });

  it('gives the same messages however the bytes are split', () => {
    for (let cut = 0; cut <= stream.length; cut++) {
      const reader = new FrontendReader();
      const parts = [stream.slice(0, cut), stream.slice(cut)];
      const messages = parts.flatMap((part) => reader.read(part));
      expect(messages.map(({ type, bytes }) => [type, [...bytes]])).toEqual(whole);
    }
    const reader = new FrontendReader();
    const single = Array.from(stream, (byte) => reader.read(Uint8Array.of(byte))).flat();
    expect(single.map(({ type, bytes }) => [type, [...bytes]])).toEqual(whole);
  });

  it('tells requests for encryption and for cancelling from a start-up', () => {
    const reader = new FrontendReader();
    expect(reader.read(startUp(80_877_103)).map(({ type }) => type)).toEqual(['ssl-request']);
    expect(reader.read(startUp(80_877_102, '12345678')).map(({ type }) => type)).toEqual(['cancel-request']);
    expect(reader.read(startUp(196_608)).map(({ type }) => type)).toEqual(['start-up']);
  });

  it.each([3, -1, MAX_MESSAGE_BYTES + 1])('refuses a message that claims a length of %i', (length) => {
    const reader = new FrontendReader();
    reader.read(startUp(196_608));
    const bytes = queryMessage('select 1');
    new DataView(bytes.buffer).setInt32(1, length);
    expect(() => reader.read(bytes)).toThrow(WireProtocolError);
  });
});

describe('readBackendMessages', () => {
  it('refuses an answer that ends within a message', () => {
    const bytes = greeting('18.0', 1);
    expect(readBackendMessages(bytes).at(-1)?.type).toBe('Z');
    expect(() => readBackendMessages(bytes.slice(0, -1))).toThrow(WireProtocolError);
  });
});

describe('transactionStatusOf', () => {
  it('reads the three states and refuses a fourth', () => {
    const status = (letter: string) => transactionStatusOf(first(message('Z', letter)));
    expect([status('I'), status('T'), status('E')]).toEqual(['idle', 'in-transaction', 'failed-transaction']);
    expect(() => status('X')).toThrow(WireProtocolError);
  });
});

describe('listenChangeOf', () => {
  it.each([
    ['LISTEN bullmq_jobs', { kind: 'listen', channel: 'bullmq_jobs' }],
    ['-- why\n-- and how\nLISTEN Jobs;\n', { kind: 'listen', channel: 'jobs' }],
    ['/* a\nb */ listen "Odd ""name"""', { kind: 'listen', channel: 'Odd "name"' }],
    ['unlisten *', { kind: 'unlisten', channel: '*' }],
    ['  UNLISTEN x ; ', { kind: 'unlisten', channel: 'x' }],
  ])('reads %j', (sql, change) => {
    expect(listenChangeOf(sql)).toEqual(change);
  });

  it.each(["select 'listen x'", 'listen a; listen b', 'listen', 'listening x', '', '-- listen x'])(
    'finds none in %j',
    (sql) => {
      expect(listenChangeOf(sql)).toBeUndefined();
    },
  );
});

describe('isClientCopy', () => {
  it.each([
    ['-- all\ncopy t from stdin', true],
    ['COPY (select 1) TO STDOUT', true],
    ["copy t to '/tmp/file'", false],
    ["select 'copy t from stdin'", false],
  ])('judges %j', (sql, isCopy) => {
    expect(isClientCopy(sql)).toBe(isCopy);
  });
});

describe('prefixStatementName', () => {
  it('renames the statement in Parse, Bind, Describe and Close, and nothing else of the message', () => {
    const renamed = (type: string, body: string) =>
      new TextDecoder().decode(prefixStatementName(first(message(type, body)), 'c7_').message.bytes.slice(5));
    expect(renamed('P', 'find\0select 1\0\0\0')).toBe('c7_find\0select 1\0\0\0');
    expect(renamed('B', 'portal\0find\0\0\0\0\0\0\0')).toBe('portal\0c7_find\0\0\0\0\0\0\0');
    expect(renamed('D', 'Sfind\0')).toBe('Sc7_find\0');
    expect(renamed('C', 'Sfind\0')).toBe('Sc7_find\0');
    expect(renamed('D', 'Pportal\0')).toBe('Pportal\0');
    expect(renamed('P', '\0select 1\0\0\0')).toBe('\0select 1\0\0\0');
  });

  it('names the statement that a Parse makes', () => {
    expect(prefixStatementName(first(message('P', 'find\0select 1\0\0\0')), 'c7_').parsedName).toBe(
      'c7_find',
    );
    expect(prefixStatementName(first(message('B', '\0find\0')), 'c7_').parsedName).toBeUndefined();
  });

  it('refuses a name without its end', () => {
    expect(() => prefixStatementName(first(message('P', 'find')), 'c7_')).toThrow(WireProtocolError);
  });
});

describe('messages of our own', () => {
  it('read back as what they say', () => {
    expect(sqlOf(first(queryMessage('select é')))).toBe('select é');
    expect(sqlOf(first(message('P', 'n\0select 2\0\0\0')))).toBe('select 2');
    expect(sqlOf(first(message('S', '')))).toBeUndefined();
    const closing = readBackendMessages(closeStatementsMessage(['a', 'b'])).map(({ type }) => type);
    expect(closing).toEqual(['C', 'C', 'S']);
    expect(new TextDecoder().decode(fatalError('08P01', 'no'))).toContain('C08P01\0Mno\0');
    expect(channelOf(first(message('A', '\0\0\0\u0001jobs\0payload\0')))).toBe('jobs');
  });
});
