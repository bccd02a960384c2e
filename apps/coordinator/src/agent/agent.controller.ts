import { type AgentSummary, ROUTES } from '@broadside/shared';
import { Controller, Get, Inject } from '@nestjs/common';
import { AgentRegistry } from './agent-registry.js';

@Controller(ROUTES.agents)
export class AgentController {
  readonly #registry: AgentRegistry;

  constructor(@Inject(AgentRegistry) registry: AgentRegistry) {
    this.#registry = registry;
  }

  @Get()
  list(): AgentSummary[] {
    return this.#registry.summaries();
  }
}
