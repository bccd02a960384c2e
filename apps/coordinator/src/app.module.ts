import { type DynamicModule, Module } from '@nestjs/common';
import { TicketController } from './access/ticket.controller.js';
import { Tickets } from './access/tickets.js';
import { TokenController } from './access/token.controller.js';
import { TokenService } from './access/token.service.js';
import { AgentController } from './agent/agent.controller.js';
import { AgentRegistry } from './agent/agent-registry.js';
import { AuditController } from './audit/audit.controller.js';
import { AuditLog } from './audit/audit-log.js';
import { HealthController } from './health/health.controller.js';
import { Health } from './health/health.js';
import { RunController } from './run/run.controller.js';
import { RunService } from './run/run.service.js';
import { KillController } from './safety/kill.controller.js';
import { KillSwitch } from './safety/kill-switch.js';

/** What the controllers need of the parts that were built beside Nest. */
export interface AppParts {
  readonly registry: AgentRegistry;
  readonly runs: RunService;
  readonly health: Health;
  readonly tokens: TokenService;
  readonly tickets: Tickets;
  readonly audit: AuditLog;
  readonly killSwitch: KillSwitch;
}

/**
 * Nest stays at the rim: it serves REST; everything behind the controllers knows nothing of it. The parts are
 * still on their way when Nest begins to build.
 */
@Module({})
export class AppModule {
  static of(parts: Promise<AppParts>): DynamicModule {
    return {
      module: AppModule,
      controllers: [
        RunController,
        AgentController,
        TokenController,
        TicketController,
        AuditController,
        KillController,
        HealthController,
      ],
      providers: [
        { provide: AgentRegistry, useFactory: async () => (await parts).registry },
        { provide: RunService, useFactory: async () => (await parts).runs },
        { provide: TokenService, useFactory: async () => (await parts).tokens },
        { provide: AuditLog, useFactory: async () => (await parts).audit },
        { provide: Tickets, useFactory: async () => (await parts).tickets },
        { provide: KillSwitch, useFactory: async () => (await parts).killSwitch },
        { provide: Health, useFactory: async () => (await parts).health },
      ],
    };
  }
}
