import { createRunSchema, type Plan, ROUTES, type RunDetail, type RunSummary } from '@broadside/shared';
import { Body, Controller, Delete, Get, HttpCode, Inject, Param, Post } from '@nestjs/common';
import { RunService } from './run.service.js';

@Controller(ROUTES.runs)
export class RunController {
  readonly #runs: RunService;

  constructor(@Inject(RunService) runs: RunService) {
    this.#runs = runs;
  }

  @Post()
  create(@Body({ schema: createRunSchema }) plan: Plan): Promise<RunSummary> {
    return this.#runs.create(plan);
  }

  @Get()
  list(): Promise<RunSummary[]> {
    return this.#runs.list();
  }

  @Get(':id')
  get(@Param('id') id: string): Promise<RunDetail> {
    return this.#runs.get(id);
  }

  /** Answers at once; the report follows when the run has closed. */
  @Delete(':id')
  @HttpCode(202)
  stop(@Param('id') id: string): Promise<RunSummary> {
    return this.#runs.stop(id, 'stopped by request');
  }
}
