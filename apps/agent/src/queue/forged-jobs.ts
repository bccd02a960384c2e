import type { Clock } from '@broadside/engine/host';
import type { AgentMessage } from '@broadside/shared';
import type { Logger } from 'pino';

/** Whoever writes such jobs may write many. */
const TELL_EVERY_US = 1_000_000;

/** Jobs that the coordinator did not sign: counted, logged, and told to the coordinator. */
export class ForgedJobs {
  readonly #clock: Clock;
  readonly #send: (message: AgentMessage) => boolean;
  readonly #logger: Logger;
  #count = 0;
  #toldAtUs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, send: (message: AgentMessage) => boolean, logger: Logger) {
    this.#clock = clock;
    this.#send = send;
    this.#logger = logger;
  }

  note(reason: string): void {
    this.#count++;
    const nowUs = this.#clock.nowUs();
    if (nowUs - this.#toldAtUs < TELL_EVERY_US) return;
    this.#toldAtUs = nowUs;
    this.#logger.warn({ forged: this.#count }, `refused a job of the queue: ${reason}`);
    this.#send({ kind: 'forged', count: this.#count, reason });
  }
}
