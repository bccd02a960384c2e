/**
 * Tells failures that come again and again, as those of a store that is away: each kind once, and while it lasts again
 * at a bounded rate, with how many there were in between.
 */
import type { Logger } from 'pino';

const AGAIN_MS = 30_000;
/** Above this the kind that was told longest ago is forgotten. */
const MAX_KINDS = 100;
/** What differs between failures of one kind: ids of runs, and numbers. */
const PARTICULARS = /[0-9a-f]{8}-[0-9a-f-]{27}|\d+/g;

interface Told {
  readonly atMs: number;
  untold: number;
}

export class FailureLog {
  readonly #log: Pick<Logger, 'warn' | 'error'>;
  readonly #nowMs: () => number;
  readonly #kinds = new Map<string, Told>();

  constructor(log: Pick<Logger, 'warn' | 'error'>, nowMs: () => number = () => performance.now()) {
    this.#log = log;
    this.#nowMs = nowMs;
  }

  /** Something goes on, and this part of it did not work. */
  warn(error: unknown, what: string): void {
    this.#tell('warn', error, what);
  }

  error(error: unknown, what: string): void {
    this.#tell('error', error, what);
  }

  #tell(level: 'warn' | 'error', error: unknown, what: string): void {
    const reason = error instanceof Error ? error.message : String(error);
    const kind = `${what}: ${reason}`.replaceAll(PARTICULARS, '#');
    const nowMs = this.#nowMs();
    const told = this.#kinds.get(kind);
    if (told !== undefined && nowMs - told.atMs < AGAIN_MS) {
      told.untold++;
      return;
    }
    // Taken out first, so that the map stays in the order of telling.
    this.#kinds.delete(kind);
    this.#kinds.set(kind, { atMs: nowMs, untold: 0 });
    const [oldest] = this.#kinds.keys();
    if (this.#kinds.size > MAX_KINDS && oldest !== undefined) this.#kinds.delete(oldest);
    const untold = told?.untold ?? 0;
    this.#log[level]({ err: error }, untold === 0 ? what : `${what} (and ${untold} times more before)`);
  }
}
