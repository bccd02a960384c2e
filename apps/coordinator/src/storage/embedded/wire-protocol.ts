/**
 * The part of the PostgreSQL wire protocol 3.0 that stands between several clients and one session:
 * cutting a byte stream into messages, reading what decides about the session, and writing the few
 * replies that the session host gives by itself (PostgreSQL manual, "Message Formats").
 *
 *     message   = type (1 byte) length (int32, counts itself and the body) body
 *     start-up  = length (int32) code (int32) body            (the only message without a type)
 */

/** Front-end messages larger than this are refused: nothing we store comes near it. */
export const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

const SSL_REQUEST_CODE = 80_877_103;
const GSS_REQUEST_CODE = 80_877_104;
const CANCEL_REQUEST_CODE = 80_877_102;
const HEADER_BYTES = 5;

export interface WireMessage {
  /** One character, for example `Q` for a simple query. */
  readonly type: string;
  /** The whole message, header included. */
  readonly bytes: Uint8Array;
}

export type StartUpKind = 'start-up' | 'ssl-request' | 'cancel-request';

export type TransactionStatus = 'idle' | 'in-transaction' | 'failed-transaction';

/** Thrown for bytes that are not the protocol; the connection that sent them cannot go on. */
export class WireProtocolError extends Error {
  override readonly name = 'WireProtocolError';
}

/** Cuts the bytes of one client into messages, however they arrive split. */
export class FrontendReader {
  #pending: Uint8Array = new Uint8Array(0);
  #isStarted = false;

  /**
   * @returns the complete messages in order; start-up packets have the pseudo type of their kind.
   * @throws WireProtocolError on a length that cannot be.
   */
  read(chunk: Uint8Array): WireMessage[] {
    const buffer = this.#pending.length === 0 ? chunk : concatBytes([this.#pending, chunk]);
    const messages: WireMessage[] = [];
    let offset = 0;
    for (;;) {
      const message = this.#isStarted ? typedMessageAt(buffer, offset) : startUpAt(buffer, offset);
      if (message === undefined) break;
      if (message.type === 'start-up') this.#isStarted = true;
      messages.push(message);
      offset += message.bytes.length;
    }
    // A copy, because the chunk belongs to whoever delivered it.
    this.#pending = buffer.slice(offset);
    return messages;
  }
}

/**
 * Cuts the session's whole answer to one batch into messages.
 * @throws WireProtocolError when the answer ends in the middle of a message.
 */
export function readBackendMessages(bytes: Uint8Array): WireMessage[] {
  const messages: WireMessage[] = [];
  let offset = 0;
  while (offset < bytes.length) {
    const message = typedMessageAt(bytes, offset);
    if (message === undefined) throw new WireProtocolError('the session ended its answer within a message');
    messages.push(message);
    offset += message.bytes.length;
  }
  return messages;
}

/** The status that a ReadyForQuery message reports. */
export function transactionStatusOf(readyForQuery: WireMessage): TransactionStatus {
  switch (String.fromCharCode(readyForQuery.bytes[HEADER_BYTES] ?? 0)) {
    case 'I':
      return 'idle';
    case 'T':
      return 'in-transaction';
    case 'E':
      return 'failed-transaction';
    default:
      throw new WireProtocolError('unknown transaction status');
  }
}

/** The channel of a NotificationResponse (`A`): process id, channel, payload. */
export function channelOf(notification: WireMessage): string {
  return readCString(notification.bytes, HEADER_BYTES + 4).text;
}

/** Whether a message is the CommandComplete (`C`) of a LISTEN or UNLISTEN. */
export function completesListenChange(message: WireMessage): boolean {
  return message.type === 'C' && /^(UN)?LISTEN$/.test(readCString(message.bytes, HEADER_BYTES).text);
}

/** The SQL text of a simple query (`Q`) or of a Parse message (`P`), undefined for other messages. */
export function sqlOf(message: WireMessage): string | undefined {
  if (message.type === 'Q') return readCString(message.bytes, HEADER_BYTES).text;
  if (message.type !== 'P') return undefined;
  return readCString(message.bytes, readCString(message.bytes, HEADER_BYTES).next).text;
}

export interface ListenChange {
  readonly kind: 'listen' | 'unlisten';
  /** The channel as notifications name it; `*` means all and only comes with `unlisten`. */
  readonly channel: string;
}

/** Reads `LISTEN x` and `UNLISTEN x`, comments before it left out; any other statement gives undefined. */
export function listenChangeOf(sql: string): ListenChange | undefined {
  const match = /^(listen|unlisten)\s+("(?:[^"]|"")+"|[a-z_][\w$]*|\*)\s*;?\s*$/i.exec(
    withoutLeadingComments(sql),
  );
  const [, verb, name] = match ?? [];
  if (verb === undefined || name === undefined) return undefined;
  const channel = name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name.toLowerCase();
  return { kind: verb.toLowerCase() === 'listen' ? 'listen' : 'unlisten', channel };
}

/** Whether a statement would stream rows from or to its client. */
export function isClientCopy(sql: string): boolean {
  return /^copy\b[\s\S]*\b(stdin|stdout)\b/i.test(withoutLeadingComments(sql));
}

function withoutLeadingComments(sql: string): string {
  return sql.replace(/^(?:\s+|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)+/, '');
}

/**
 * Puts `prefix` before the name of a prepared statement in Parse, Bind, Describe and Close messages,
 * so that clients of one session cannot meet in its one name space. The unnamed statement stays unnamed.
 * @returns the message to run and, for a Parse, the full name that now exists in the session.
 */
export function prefixStatementName(
  message: WireMessage,
  prefix: string,
): { readonly message: WireMessage; readonly parsedName?: string } {
  const position = statementNamePosition(message);
  if (position === undefined) return { message };
  const { text, next } = readCString(message.bytes, position);
  if (text === '') return { message };
  const name = prefix + text;
  const body = concatBytes([
    message.bytes.subarray(HEADER_BYTES, position),
    new TextEncoder().encode(`${name}\0`),
    message.bytes.subarray(next),
  ]);
  const renamed = typedMessage(message.type, body);
  return message.type === 'P' ? { message: renamed, parsedName: name } : { message: renamed };
}

function statementNamePosition({ type, bytes }: WireMessage): number | undefined {
  if (type === 'P') return HEADER_BYTES;
  if (type === 'B') return readCString(bytes, HEADER_BYTES).next;
  const isAboutStatement = (type === 'D' || type === 'C') && bytes[HEADER_BYTES] === 0x53;
  return isAboutStatement ? HEADER_BYTES + 1 : undefined;
}

/** A simple query. */
export function queryMessage(sql: string): Uint8Array {
  return typedMessage('Q', new TextEncoder().encode(`${sql}\0`)).bytes;
}

/** Close of the named prepared statements, with the Sync that makes it a complete batch. */
export function closeStatementsMessage(names: Iterable<string>): Uint8Array {
  const closes = Array.from(names, (name) => typedMessage('C', new TextEncoder().encode(`S${name}\0`)).bytes);
  return concatBytes([...closes, typedMessage('S', new Uint8Array(0)).bytes]);
}

/** What a server says to a client that it lets in without a password. */
export function greeting(serverVersion: string, clientId: number): Uint8Array {
  const parameters = {
    server_version: serverVersion,
    server_encoding: 'UTF8',
    client_encoding: 'UTF8',
    DateStyle: 'ISO, MDY',
    TimeZone: 'UTC',
    integer_datetimes: 'on',
    standard_conforming_strings: 'on',
  };
  const text = new TextEncoder();
  const keyData = new Uint8Array(8);
  new DataView(keyData.buffer).setInt32(0, clientId);
  return concatBytes([
    typedMessage('R', new Uint8Array(4)).bytes,
    ...Object.entries(parameters).map(
      ([key, value]) => typedMessage('S', text.encode(`${key}\0${value}\0`)).bytes,
    ),
    typedMessage('K', keyData).bytes,
    typedMessage('Z', text.encode('I')).bytes,
  ]);
}

/** An ErrorResponse after which the server closes the connection. */
export function fatalError(sqlState: string, message: string): Uint8Array {
  const fields = `SFATAL\0VFATAL\0C${sqlState}\0M${message}\0\0`;
  return typedMessage('E', new TextEncoder().encode(fields)).bytes;
}

export function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

function typedMessage(type: string, body: Uint8Array): WireMessage {
  const bytes = new Uint8Array(HEADER_BYTES + body.length);
  bytes[0] = type.charCodeAt(0);
  new DataView(bytes.buffer).setInt32(1, 4 + body.length);
  bytes.set(body, HEADER_BYTES);
  return { type, bytes };
}

function typedMessageAt(buffer: Uint8Array, offset: number): WireMessage | undefined {
  if (buffer.length - offset < HEADER_BYTES) return undefined;
  const length = 1 + lengthAt(buffer, offset + 1, 4);
  if (buffer.length - offset < length) return undefined;
  return {
    type: String.fromCharCode(buffer[offset] ?? 0),
    bytes: buffer.subarray(offset, offset + length),
  };
}

function startUpAt(buffer: Uint8Array, offset: number): WireMessage | undefined {
  if (buffer.length - offset < 8) return undefined;
  const length = lengthAt(buffer, offset, 8);
  if (buffer.length - offset < length) return undefined;
  const code = viewOf(buffer).getInt32(offset + 4);
  return { type: startUpKind(code), bytes: buffer.subarray(offset, offset + length) };
}

function startUpKind(code: number): StartUpKind {
  if (code === SSL_REQUEST_CODE || code === GSS_REQUEST_CODE) return 'ssl-request';
  return code === CANCEL_REQUEST_CODE ? 'cancel-request' : 'start-up';
}

function lengthAt(buffer: Uint8Array, offset: number, minimum: number): number {
  const length = viewOf(buffer).getInt32(offset);
  if (length < minimum || length > MAX_MESSAGE_BYTES) {
    throw new WireProtocolError(`a message of ${length} bytes is outside ${minimum} to ${MAX_MESSAGE_BYTES}`);
  }
  return length;
}

function readCString(bytes: Uint8Array, start: number): { readonly text: string; readonly next: number } {
  const end = bytes.indexOf(0, start);
  if (end === -1) throw new WireProtocolError('a string without its end');
  return { text: new TextDecoder().decode(bytes.subarray(start, end)), next: end + 1 };
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
