import {
  type CreatedToken,
  type CreateToken,
  createTokenSchema,
  ROUTES,
  type TokenSummary,
} from '@broadside/shared';
import { Body, Controller, Delete, Get, Inject, Param, Post } from '@nestjs/common';
import { AuditLog } from '../audit/audit-log.js';
import { CallerOf } from './caller.js';
import type { Caller } from './principal.js';
import { TokenService } from './token.service.js';

@Controller(ROUTES.tokens)
export class TokenController {
  readonly #tokens: TokenService;

  readonly #audit: AuditLog;

  constructor(@Inject(TokenService) tokens: TokenService, @Inject(AuditLog) audit: AuditLog) {
    this.#tokens = tokens;
    this.#audit = audit;
  }

  @Post()
  create(
    @Body({ schema: createTokenSchema }) asked: CreateToken,
    @CallerOf() caller: Caller,
  ): Promise<CreatedToken> {
    const detail = { name: asked.name, role: asked.role };
    return this.#audit.during(
      caller,
      { action: 'token.create', detail, subjectOf: (made) => made.id },
      async () => await this.#tokens.create(asked),
    );
  }

  @Get()
  list(): TokenSummary[] {
    return this.#tokens.list();
  }

  @Delete(':id')
  revoke(@Param('id') id: string, @CallerOf() caller: Caller): Promise<TokenSummary> {
    return this.#audit.during(
      caller,
      { action: 'token.revoke', subject: id },
      async () => await this.#tokens.revoke(id),
    );
  }
}
