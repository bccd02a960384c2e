/**
 * Reads JSON bodies. Our own, because the usual parser reads a body that is too large to its end before it
 * answers, and because a body that is not declared as JSON must not reach a route: a page in a browser may
 * send any text to a coordinator on loopback, but JSON only after asking (CORS preflight), which we refuse.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { BroadsideError, LIMITS } from '@broadside/shared';
import { jsonShapeOf } from './json-shape.js';

/** What a sender that does not stop is read and thrown away for, so that it can see the answer. */
const DRAIN_MS = 2_000;

/** Far beyond any plan, and parsed in no time. */
const MAX_DEPTH = 32;
const MAX_PARTS = 20_000;

type Next = (error?: unknown) => void;
type BodyRequest = IncomingMessage & { body?: unknown };

/** Middleware: `request.body` is the parsed value, undefined when there is no body. */
export function jsonBody(request: BodyRequest, _response: ServerResponse, next: Next): void {
  if (!hasBody(request)) {
    next();
    return;
  }
  void takeBody(request, next);
}

/** Never rejects: what goes wrong is handed to `next`. */
async function takeBody(request: BodyRequest, next: Next): Promise<void> {
  let failure: unknown;
  try {
    request.body = parseJson(request, await readBody(request));
  } catch (error) {
    failure = error;
  }
  next(failure);
}

function hasBody(request: IncomingMessage): boolean {
  const length = request.headers['content-length'];
  return request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

function readBody(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    const refuse = (): void => {
      request.off('data', onData);
      chunks.length = 0;
      drain(request);
      reject(tooLarge());
    };
    const onData = (chunk: Buffer): void => {
      sizeBytes += chunk.length;
      if (sizeBytes > LIMITS.maxRestBodyBytes) refuse();
      else chunks.push(chunk);
    };
    request.on('error', reject);
    request.on('aborted', () => reject(new BroadsideError('invalid', 'the request ended before its body')));
    if (Number(request.headers['content-length'] ?? 0) > LIMITS.maxRestBodyBytes) {
      refuse();
      return;
    }
    request.on('data', onData);
    request.on('end', () => resolve(Buffer.concat(chunks)));
  });
}

function tooLarge(): BroadsideError {
  return new BroadsideError('tooLarge', `the body is larger than ${LIMITS.maxRestBodyBytes} bytes`, {
    hint: 'a plan is a few hundred bytes; large request bodies belong on the target',
  });
}

/**
 * Lets the answer out at once, and reads on for a moment without keeping anything: a connection that is closed
 * while the sender writes may take the answer with it (RFC 9112 9.6).
 */
function drain(request: IncomingMessage): void {
  request.resume();
  const timer = setTimeout(() => request.socket.destroy(), DRAIN_MS);
  timer.unref();
  request.once('close', () => clearTimeout(timer));
}

function parseJson(request: IncomingMessage, bytes: Buffer): unknown {
  const type = request.headers['content-type'] ?? '';
  if (!/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type)) {
    throw new BroadsideError('invalid', 'the body must be JSON', {
      hint: 'send the header Content-Type: application/json',
    });
  }
  const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(type)?.[1];
  // RFC 8259 8.1: JSON that systems exchange is UTF-8. Read as that, other text would become another plan.
  if (charset !== undefined && !/^(?:utf-?8|us-ascii)$/i.test(charset)) {
    throw new BroadsideError('unsupported', `the body is in ${charset.slice(0, 40)}; JSON must be UTF-8`);
  }
  const { depth, parts } = jsonShapeOf(bytes);
  if (depth > MAX_DEPTH || parts > MAX_PARTS) {
    throw new BroadsideError('invalid', 'the body is nested too deeply, or has too many parts, for a plan', {
      hint: `at most ${MAX_DEPTH} levels and ${MAX_PARTS} values`,
    });
  }
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return value;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    // The parser quotes what it read, which may be long.
    throw new BroadsideError('invalid', `the body is not valid JSON: ${reason.slice(0, 200)}`, {
      cause: error,
    });
  }
}
