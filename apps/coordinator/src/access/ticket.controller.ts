import { ROUTES, type Ticket } from '@broadside/shared';
import { Controller, Inject, Post } from '@nestjs/common';
import { CallerOf } from './caller.js';
import type { Caller } from './principal.js';
import { Tickets } from './tickets.js';

@Controller(ROUTES.tickets)
export class TicketController {
  readonly #tickets: Tickets;

  constructor(@Inject(Tickets) tickets: Tickets) {
    this.#tickets = tickets;
  }

  @Post()
  issue(@CallerOf() caller: Caller): Ticket {
    return this.#tickets.issue(caller);
  }
}
