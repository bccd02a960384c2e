import { type AuditEntry, type AuditQuery, auditQuerySchema, ROUTES } from '@broadside/shared';
import { Controller, Get, Inject, Query } from '@nestjs/common';
import { AuditLog } from './audit-log.js';

@Controller(ROUTES.audit)
export class AuditController {
  readonly #audit: AuditLog;

  constructor(@Inject(AuditLog) audit: AuditLog) {
    this.#audit = audit;
  }

  @Get()
  list(@Query({ schema: auditQuerySchema }) query: AuditQuery): Promise<AuditEntry[]> {
    return this.#audit.list(query);
  }
}
