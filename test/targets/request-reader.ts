// Reads requests from a connection's bytes, in any split, for the targets of the tests. Strict where a client
// could be at fault: a request that is not HTTP makes the target's test fail rather than be guessed at.

const LIMIT_HEADER_BYTES = 64 * 1024;

export interface TargetRequest {
  readonly method: string;
  readonly target: string;
  readonly version: '1.0' | '1.1';
  /** Names in lower case; the last of several lines of one name wins. */
  readonly headers: ReadonlyMap<string, string>;
  /** The header block as it came, blank line included. */
  readonly head: string;
  readonly body: Buffer;
  /** Whether the client expects the connection to stay open after the reply (RFC 9112 section 9.3). */
  readonly isKeptAlive: boolean;
}

/** Feed it chunks; it hands back the requests that are complete. Only Content-Length bodies are known. */
export class RequestReader {
  #pending: Buffer = Buffer.alloc(0);

  push(chunk: Buffer): TargetRequest[] {
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    const complete: TargetRequest[] = [];
    for (;;) {
      const request = this.#takeRequest();
      if (request === undefined) return complete;
      complete.push(request);
    }
  }

  #takeRequest(): TargetRequest | undefined {
    const headEnd = this.#pending.indexOf('\r\n\r\n');
    if (headEnd < 0) {
      if (this.#pending.length > LIMIT_HEADER_BYTES) throw new Error('target: request header too large');
      return undefined;
    }
    const head = this.#pending.toString('latin1', 0, headEnd + 4);
    const parsed = parseHead(head);
    const bodyStart = headEnd + 4;
    const sizeBytes = Number(parsed.headers.get('content-length') ?? 0);
    if (this.#pending.length < bodyStart + sizeBytes) return undefined;
    const body = this.#pending.subarray(bodyStart, bodyStart + sizeBytes);
    this.#pending = this.#pending.subarray(bodyStart + sizeBytes);
    return { ...parsed, body };
  }
}

function parseHead(head: string): Omit<TargetRequest, 'body'> {
  const [requestLine = '', ...lines] = head.slice(0, -4).split('\r\n');
  const [, method, target, version] = /^(\S+) (.+) HTTP\/(1\.[01])$/.exec(requestLine) ?? [];
  if (method === undefined || target === undefined || (version !== '1.0' && version !== '1.1')) {
    throw new Error(`target: not a request line: ${JSON.stringify(requestLine)}`);
  }
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon <= 0) throw new Error(`target: not a header line: ${JSON.stringify(line)}`);
    headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
  }
  const connection = (headers.get('connection') ?? '').toLowerCase();
  const isKeptAlive = version === '1.1' ? connection !== 'close' : connection === 'keep-alive';
  return { method, target, version, headers, head, isKeptAlive };
}
