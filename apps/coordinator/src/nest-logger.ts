import type { LoggerService } from '@nestjs/common';
import type { Logger } from 'pino';

/**
 * Nest's own lines in our log. What it tells about its start interests nobody, and an error that ends the start
 * is thrown to the caller as well, who tells it in one line.
 */
export class NestLogger implements LoggerService {
  readonly #log: Logger;
  #isStarting = true;

  constructor(log: Logger) {
    this.#log = log;
  }

  endStart(): void {
    this.#isStarting = false;
  }

  log(message: unknown): void {
    this.#log.debug(String(message));
  }

  warn(message: unknown): void {
    this.#log.warn(String(message));
  }

  error(message: unknown): void {
    if (this.#isStarting) this.#log.debug(String(message));
    else this.#log.error(String(message));
  }
}
