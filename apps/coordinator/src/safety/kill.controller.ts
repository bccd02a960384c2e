import { type KillRequest, type KillState, killRequestSchema, ROUTES } from '@broadside/shared';
import { Body, Controller, Delete, Get, HttpCode, Inject, Post } from '@nestjs/common';
import { CallerOf } from '../access/caller.js';
import type { Caller } from '../access/principal.js';
import { AuditLog } from '../audit/audit-log.js';
import { KillSwitch } from './kill-switch.js';

@Controller(ROUTES.kill)
export class KillController {
  readonly #killSwitch: KillSwitch;
  readonly #audit: AuditLog;

  constructor(@Inject(KillSwitch) killSwitch: KillSwitch, @Inject(AuditLog) audit: AuditLog) {
    this.#killSwitch = killSwitch;
    this.#audit = audit;
  }

  @Get()
  state(): KillState {
    return this.#killSwitch.state;
  }

  /** Answers when every agent has been told and every run is ending. */
  @Post()
  @HttpCode(200)
  kill(
    @Body({ schema: killRequestSchema }) { reason }: KillRequest,
    @CallerOf() caller: Caller,
  ): Promise<KillState> {
    const detail = reason === undefined ? {} : { reason };
    return this.#audit.during(caller, { action: 'kill', detail }, () => this.#killSwitch.kill(reason));
  }

  @Delete()
  release(@CallerOf() caller: Caller): Promise<KillState> {
    return this.#audit.during(caller, { action: 'kill.release' }, () => this.#killSwitch.release());
  }
}
