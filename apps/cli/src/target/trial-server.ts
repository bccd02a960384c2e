import { createServer, type Server, type Socket } from 'node:net';
import { type RequestHead, readRequestHead } from './request-head.js';

export interface TrialServerOptions {
  readonly host: string;
  readonly port: number;
  /** Body length of every reply. */
  readonly sizeBytes: number;
  /** Wait before every reply. */
  readonly delayMs: number;
}

/** Largest request head; a longer one is answered with 431. */
const MAX_HEAD_BYTES = 65_536;
/** Distinct request heads whose reply is remembered: a load generator repeats one. */
const MAX_REMEMBERED = 64;
const MAX_CONNECTIONS = 100_000;

/**
 * A small HTTP server on bare sockets: every request gets the same body. It exists to be loaded, so it does the
 * least that a correct HTTP/1.0 and 1.1 server has to do: keep-alive of both kinds, HEAD, pipelining, request
 * bodies of known length.
 */
export function createTrialServer(options: Pick<TrialServerOptions, 'sizeBytes' | 'delayMs'>): Server {
  const replies = new ReplyBook(options.sizeBytes);
  const server = createServer({ noDelay: true }, (socket) => {
    const connection = new TrialConnection(socket, replies, options.delayMs);
    socket.on('data', (chunk: Buffer) => connection.take(chunk));
    socket.on('drain', () => connection.serve());
    // A client that resets is the client's business; the socket closes by itself.
    socket.on('error', () => socket.destroy());
  });
  server.maxConnections = MAX_CONNECTIONS;
  return server;
}

interface Reply {
  readonly bytes: Buffer;
  readonly closes: boolean;
  /** Bytes of request body to pass over. */
  readonly bodyBytes: number;
}

/** The reply to each kind of request, made once. */
class ReplyBook {
  readonly #body: Buffer;
  readonly #known = new Map<string, Reply>();

  constructor(sizeBytes: number) {
    this.#body = Buffer.alloc(sizeBytes, 'x');
  }

  replyTo(headText: string): Reply {
    const known = this.#known.get(headText);
    if (known !== undefined) return known;
    const reply = this.#make(readRequestHead(headText));
    if (this.#known.size >= MAX_REMEMBERED) this.#known.clear();
    this.#known.set(headText, reply);
    return reply;
  }

  refusal(status: string): Reply {
    const head = `HTTP/1.1 ${status}\r\nServer: broadside-target\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`;
    return { bytes: Buffer.from(head, 'latin1'), closes: true, bodyBytes: 0 };
  }

  #make(head: RequestHead | undefined): Reply {
    if (head === undefined) return this.refusal('400 Bad Request');
    if (head.bodyBytes === undefined) return this.refusal('411 Length Required');
    const connection = head.keepAlive
      ? head.isOld
        ? 'Connection: keep-alive\r\n'
        : ''
      : 'Connection: close\r\n';
    const text =
      'HTTP/1.1 200 OK\r\nServer: broadside-target\r\nContent-Type: text/plain\r\n' +
      `Content-Length: ${this.#body.byteLength}\r\n${connection}\r\n`;
    const headBytes = Buffer.from(text, 'latin1');
    return {
      bytes: head.method === 'HEAD' ? headBytes : Buffer.concat([headBytes, this.#body]),
      closes: !head.keepAlive,
      bodyBytes: head.bodyBytes,
    };
  }
}

/** One connection: requests are answered one after the other, in order. */
class TrialConnection {
  readonly #socket: Socket;
  readonly #replies: ReplyBook;
  readonly #delayMs: number;
  #unread = '';
  #skipBytes = 0;
  #isWaiting = false;
  #isClosing = false;

  constructor(socket: Socket, replies: ReplyBook, delayMs: number) {
    this.#socket = socket;
    this.#replies = replies;
    this.#delayMs = delayMs;
  }

  take(chunk: Buffer): void {
    if (this.#isClosing) return;
    const text = chunk.toString('latin1');
    this.#unread = this.#unread === '' ? text : this.#unread + text;
    this.serve();
    // Whoever sends faster than it is answered waits in its own socket buffer, not in our memory.
    if (this.#unread.length > MAX_HEAD_BYTES && !this.#isClosing) this.#socket.pause();
  }

  serve(): void {
    while (!this.#isWaiting && !this.#isClosing && !this.#socket.writableNeedDrain) {
      this.#skipBody();
      const end = this.#unread.indexOf('\r\n\r\n');
      if (end === -1) {
        if (this.#unread.length > MAX_HEAD_BYTES) {
          this.#answer(this.#replies.refusal('431 Request Header Fields Too Large'));
        }
        break;
      }
      const reply = this.#replies.replyTo(this.#unread.slice(0, end));
      this.#unread = this.#unread.slice(end + 4);
      this.#skipBytes = reply.bodyBytes;
      if (this.#delayMs === 0) this.#answer(reply);
      else this.#answerLater(reply);
    }
    if (this.#socket.isPaused() && this.#unread.length <= MAX_HEAD_BYTES) this.#socket.resume();
  }

  #skipBody(): void {
    const skipped = Math.min(this.#skipBytes, this.#unread.length);
    if (skipped === 0) return;
    this.#unread = this.#unread.slice(skipped);
    this.#skipBytes -= skipped;
  }

  #answer(reply: Reply): void {
    if (!reply.closes) {
      this.#socket.write(reply.bytes);
      return;
    }
    this.#isClosing = true;
    this.#unread = '';
    this.#socket.end(reply.bytes);
  }

  #answerLater(reply: Reply): void {
    this.#isWaiting = true;
    setTimeout(() => {
      this.#isWaiting = false;
      if (this.#socket.destroyed) return;
      this.#answer(reply);
      this.serve();
    }, this.#delayMs);
  }
}
