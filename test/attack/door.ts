/** What somebody with or without a token finds at a coordinator's doors. */
import {
  type CreatedToken,
  createdTokenSchema,
  errorBodySchema,
  ROUTES,
  type TokenRole,
} from '@broadside/shared';
import { WebSocket } from 'ws';

export type Headers = Readonly<Record<string, string>>;

export function bearer(token: string): Headers {
  return { authorization: `Bearer ${token}` };
}

export interface Reply {
  readonly status: number;
  readonly headers: globalThis.Headers;
  readonly text: string;
}

export async function ask(
  url: string,
  method: string,
  headers: Headers = {},
  body?: unknown,
): Promise<Reply> {
  const response = await fetch(url, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** The sentence of a refusal. */
export function sentenceOf({ text }: Reply): string {
  return errorBodySchema.parse(JSON.parse(text)).error.message;
}

export async function createToken(
  url: string,
  admin: Headers,
  role: TokenRole,
  expiresInMs?: number,
): Promise<CreatedToken> {
  const asked = { role, name: `a ${role}`, ...(expiresInMs === undefined ? {} : { expiresInMs }) };
  const { text } = await ask(url + ROUTES.tokens, 'POST', admin, asked);
  return createdTokenSchema.parse(JSON.parse(text));
}

/** An upgrade: 101, or the status of the refusal. The socket is left open for whoever wants it. */
export interface Knock {
  readonly status: number;
  readonly socket: WebSocket;
  /** Subprotocol that the coordinator chose. */
  readonly protocol: string;
}

export function knock(url: string, headers: Headers = {}, protocols: readonly string[] = []): Promise<Knock> {
  return new Promise((resolve) => {
    const socket = new WebSocket(url.replace('http', 'ws'), [...protocols], { headers });
    socket.on('error', () => undefined);
    socket.once('open', () => resolve({ status: 101, socket, protocol: socket.protocol }));
    socket.once('unexpected-response', (_request, response) => {
      response.resume();
      socket.terminate();
      resolve({ status: response.statusCode ?? 0, socket, protocol: '' });
    });
  });
}

/** Close code and reason of a socket, whenever it closes. */
export function closeOf(socket: WebSocket): Promise<{ readonly code: number; readonly reason: string }> {
  return new Promise((resolve) => {
    socket.once('close', (code: number, reason: Buffer) =>
      resolve({ code, reason: reason.toString('utf8') }),
    );
  });
}
