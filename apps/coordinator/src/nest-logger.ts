import type { LoggerService } from '@nestjs/common';
import type { Logger } from 'pino';

/** Nest's own lines in our log; what it tells about its start interests nobody. */
export class NestLogger implements LoggerService {
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  log(message: unknown): void {
    this.#log.debug(String(message));
  }

  warn(message: unknown): void {
    this.#log.warn(String(message));
  }

  error(message: unknown): void {
    this.#log.error(String(message));
  }
}
