import {
  type CreatedToken,
  type CreateToken,
  createTokenSchema,
  ROUTES,
  type TokenSummary,
} from '@broadside/shared';
import { Body, Controller, Delete, Get, Inject, Param, Post } from '@nestjs/common';
import { TokenService } from './token.service.js';

@Controller(ROUTES.tokens)
export class TokenController {
  readonly #tokens: TokenService;

  constructor(@Inject(TokenService) tokens: TokenService) {
    this.#tokens = tokens;
  }

  @Post()
  create(@Body({ schema: createTokenSchema }) asked: CreateToken): Promise<CreatedToken> {
    return this.#tokens.create(asked);
  }

  @Get()
  list(): TokenSummary[] {
    return this.#tokens.list();
  }

  @Delete(':id')
  revoke(@Param('id') id: string): Promise<TokenSummary> {
    return this.#tokens.revoke(id);
  }
}
