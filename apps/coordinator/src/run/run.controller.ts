import {
  createRunSchema,
  type Plan,
  ROUTES,
  type RunDetail,
  type RunQuery,
  type RunSummary,
  runQuerySchema,
} from '@broadside/shared';
import { Body, Controller, Delete, Get, HttpCode, Inject, Param, Post, Query } from '@nestjs/common';
import { CallerOf } from '../access/caller.js';
import type { Caller } from '../access/principal.js';
import { AuditLog } from '../audit/audit-log.js';
import { RunService } from './run.service.js';

@Controller(ROUTES.runs)
export class RunController {
  readonly #runs: RunService;

  readonly #audit: AuditLog;

  constructor(@Inject(RunService) runs: RunService, @Inject(AuditLog) audit: AuditLog) {
    this.#runs = runs;
    this.#audit = audit;
  }

  @Post()
  create(@Body({ schema: createRunSchema }) plan: Plan, @CallerOf() caller: Caller): Promise<RunSummary> {
    const detail = { target: whereTo(plan.target) };
    return this.#audit.during(
      caller,
      { action: 'run.create', detail, subjectOf: (run) => run.id },
      async () => await this.#runs.create(plan),
    );
  }

  @Get()
  list(@Query({ schema: runQuerySchema }) { limit }: RunQuery): Promise<RunSummary[]> {
    return this.#runs.list(limit);
  }

  @Get(':id')
  get(@Param('id') id: string): Promise<RunDetail> {
    return this.#runs.get(id);
  }

  /** Answers at once; the report follows when the run has closed. */
  @Delete(':id')
  @HttpCode(202)
  stop(@Param('id') id: string, @CallerOf() caller: Caller): Promise<RunSummary> {
    return this.#audit.during(
      caller,
      { action: 'run.stop', subject: id },
      async () => await this.#runs.stop(id, 'stopped by request'),
    );
  }
}

/** The target without its query, where programs put secrets. */
function whereTo(target: string): string {
  if (!URL.canParse(target)) return 'unknown';
  const { protocol, host, pathname } = new URL(target);
  return `${protocol}//${host}${pathname}`;
}
