/**
 * Tells who was kept out at a WebSocket: each address with each reason once a minute, with how often it came between.
 * Whoever knocks all the time, from however many addresses, cannot fill the log.
 */
import type { Logger } from 'pino';

const AGAIN_MS = 60_000;
/** So many lines a minute; what comes from further addresses is told together. */
const MAX_KINDS = 100;

interface Told {
  readonly atMs: number;
  untold: number;
}

export class RefusalLog {
  readonly #log: Pick<Logger, 'warn'>;
  readonly #nowMs: () => number;
  readonly #kinds = new Map<string, Told>();
  #others: Told | undefined;

  constructor(log: Pick<Logger, 'warn'>, nowMs: () => number = () => performance.now()) {
    this.#log = log;
    this.#nowMs = nowMs;
  }

  /** @param line says who was refused, from where, and why. */
  warn(line: string): void {
    const nowMs = this.#nowMs();
    const isOwn = this.#hasRoomFor(line, nowMs);
    const told = isOwn ? this.#kinds.get(line) : this.#others;
    if (told !== undefined && nowMs - told.atMs < AGAIN_MS) {
      told.untold++;
      return;
    }
    if (isOwn) {
      // Taken out first, so that the map stays in the order of telling.
      this.#kinds.delete(line);
      this.#kinds.set(line, { atMs: nowMs, untold: 0 });
    } else {
      this.#others = { atMs: nowMs, untold: 0 };
    }
    const untold = told?.untold ?? 0;
    const whose = isOwn ? 'times more' : 'others';
    this.#log.warn(untold === 0 ? line : `${line} (and ${untold} ${whose} before)`);
  }

  #hasRoomFor(line: string, nowMs: number): boolean {
    if (this.#kinds.has(line) || this.#kinds.size < MAX_KINDS) return true;
    const [oldest] = this.#kinds;
    if (oldest === undefined || nowMs - oldest[1].atMs < AGAIN_MS) return false;
    return this.#kinds.delete(oldest[0]);
  }
}
