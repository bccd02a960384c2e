import { BroadsideError, ROUTES } from '@broadside/shared';
import { Controller, Get, Inject } from '@nestjs/common';
import { Health, type Readiness } from './health.js';

@Controller()
export class HealthController {
  readonly #health: Health;

  constructor(@Inject(Health) health: Health) {
    this.#health = health;
  }

  /** The process answers; nothing else is asked. */
  @Get(ROUTES.healthz)
  healthz(): { status: 'ok' } {
    return { status: 'ok' };
  }

  @Get(ROUTES.readyz)
  async readyz(): Promise<Readiness> {
    const readiness = await this.#health.readiness();
    const missing = Object.entries(readiness).flatMap(([name, isFine]) => (isFine === true ? [] : [name]));
    if (missing.length > 0) {
      const trouble = this.#health.storeTrouble;
      const details = trouble === undefined ? '' : ` (the store: ${trouble})`;
      throw new BroadsideError('unavailable', `not ready: ${missing.join(', ')}${details}`);
    }
    return readiness;
  }
}
