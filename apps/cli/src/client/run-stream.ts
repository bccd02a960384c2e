import { type LiveMessage, liveMessageSchema, type Report } from '@broadside/shared';
import { WebSocket } from 'ws';
import { type CoordinatorClient, reportOfEnded, UnreachableError } from './coordinator-client.js';

export interface RunStreamOptions {
  readonly client: CoordinatorClient;
  readonly runId: string;
  readonly onMessage: (message: LiveMessage) => void;
  /** Told once when the coordinator is gone, and once when it is back. */
  readonly onNotice: (line: string) => void;
}

/** First and longest pause before another attempt to connect. */
const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 2_000;
/** How often the run is asked for by REST: without a stream, and beside one. */
const POLL_WITHOUT_STREAM_MS = 500;
const POLL_WITH_STREAM_MS = 5_000;
/** A coordinator that restarts takes the run up again; after this time without any answer it is given up. */
const GIVE_UP_AFTER_MS = 60_000;
/** Largest live message; they are small. */
const MAX_MESSAGE_BYTES = 262_144;

/**
 * Follows a run until it has ended and its report is there. The stream shows progress; the end is taken from
 * REST, asked for when the stream says so and at intervals anyway, so that a lost message cannot hide it.
 * @throws UnreachableError when the coordinator stays away; CliError with EXIT.cluster when the run has no report.
 */
export async function followRun(options: RunStreamOptions): Promise<Report> {
  const stream = new LiveSocket(options);
  let unreachableSinceMs: number | undefined;
  try {
    for (;;) {
      await stream.waitForEnd(stream.isOpen ? POLL_WITH_STREAM_MS : POLL_WITHOUT_STREAM_MS);
      try {
        const report = reportOfEnded(await options.client.readRun(options.runId));
        if (unreachableSinceMs !== undefined) options.onNotice('the coordinator is back');
        unreachableSinceMs = undefined;
        if (report !== undefined) return report;
      } catch (error) {
        if (!(error instanceof UnreachableError)) throw error;
        if (unreachableSinceMs === undefined) {
          unreachableSinceMs = Date.now();
          options.onNotice(`the coordinator at ${options.client.url} does not answer; waiting for it`);
        }
        if (Date.now() - unreachableSinceMs > GIVE_UP_AFTER_MS) throw error;
      }
    }
  } finally {
    stream.close();
  }
}

/** The live WebSocket of one run, connected again whenever it is lost. */
class LiveSocket {
  readonly #options: RunStreamOptions;
  #socket: WebSocket | undefined;
  #retryMs = FIRST_RETRY_MS;
  #retryTimer: NodeJS.Timeout | undefined;
  #isClosed = false;
  #sawEnd = false;
  #wake: (() => void) | undefined;
  isOpen = false;

  constructor(options: RunStreamOptions) {
    this.#options = options;
    this.#connect();
  }

  /** Resolves when the stream says that the run has ended, when the stream is lost, or after the time. */
  async waitForEnd(mostMs: number): Promise<void> {
    // Once the end was seen only the report is awaited, which the coordinator stores at the same time.
    const waitMs = this.#sawEnd ? Math.min(mostMs, 100) : mostMs;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, waitMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = undefined;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retryTimer);
    this.#socket?.terminate();
  }

  #connect(): void {
    const { url, headers, ca } = this.#options.client.liveEndpoint(this.#options.runId);
    const socket = new WebSocket(url, {
      headers,
      ...(ca === undefined ? {} : { ca }),
      handshakeTimeout: 10_000,
      maxPayload: MAX_MESSAGE_BYTES,
      perMessageDeflate: false,
    });
    this.#socket = socket;
    socket.on('open', () => {
      this.isOpen = true;
      this.#retryMs = FIRST_RETRY_MS;
    });
    socket.on('message', (bytes, isBinary) => {
      if (!isBinary && Buffer.isBuffer(bytes)) this.#take(bytes.toString('utf8'));
    });
    // Every failure is followed by `close`, where the next attempt is planned; REST tells whether it matters.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      if (this.isOpen) this.#wake?.();
      this.isOpen = false;
      if (this.#isClosed) return;
      this.#retryTimer = setTimeout(() => this.#connect(), this.#retryMs);
      this.#retryMs = Math.min(this.#retryMs * 2, LONGEST_RETRY_MS);
    });
  }

  #take(text: string): void {
    const message = liveMessageOf(text);
    if (message === undefined || message.runId !== this.#options.runId) return;
    this.#options.onMessage(message);
    if (message.kind !== 'state') return;
    if (message.state === 'finished' || message.state === 'aborted' || message.state === 'failed') {
      this.#sawEnd = true;
      this.#wake?.();
    }
  }
}

/** A checked message; one that a newer coordinator sends and we do not know is passed over. */
function liveMessageOf(text: string): LiveMessage | undefined {
  try {
    const parsed = liveMessageSchema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}
