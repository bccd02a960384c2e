import type { NestExpressApplication } from '@nestjs/platform-express';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createApp } from '../app.js';
import type { Building, Parts } from '../build-parts.js';
import { NestLogger } from '../nest-logger.js';
import { Forwarding } from './forwarding.js';
import { Gate } from './gate.js';
import { LoginThrottle } from './login-throttle.js';
import { neededRoleOf, ROUTE_ROLES } from './route-roles.js';
import { Tickets } from './tickets.js';
import { TokenRegistry } from './token-registry.js';

let app: NestExpressApplication;

beforeAll(async () => {
  const log = pino({ level: 'silent' });
  const registry = new TokenRegistry(() => new Date());
  const gate = new Gate({
    registry,
    tickets: new Tickets(registry, () => new Date()),
    throttle: new LoginThrottle({ perAddress: 1, overall: 1 }, () => 0),
    forwarding: new Forwarding([]),
    onFailedLogin: () => undefined,
    onForbidden: () => undefined,
  });
  // Routes are made without a look at what is behind them.
  const building = Promise.resolve({ parts: {} as Parts } as Building);
  app = await createApp({ building, gate, tls: undefined, log, logger: new NestLogger(log) });
  await app.init();
});

afterAll(() => app.close());

it('has a line in the table for every route, and a route for every line', () => {
  const { stack } = app.getHttpAdapter().getInstance().router;
  const routes = stack.flatMap(({ route }) =>
    (route?.stack ?? []).map(({ method }) => ({ method: method.toUpperCase(), path: route?.path ?? '' })),
  );
  expect(routes.length).toBeGreaterThan(8);
  const missing = routes.filter(({ method, path }) => neededRoleOf(method, path) === undefined);
  expect(missing, 'routes without a role: add them to route-roles.ts').toEqual([]);
  const served = new Set(routes.map(({ method, path }) => `${method} ${path}`));
  const idle = ROUTE_ROLES.filter(
    ({ method, path }) =>
      method !== 'UPGRADE' && !path.startsWith('/api/docs') && !served.has(`${method} ${path}`),
  );
  expect(idle, 'lines of route-roles.ts without a route').toEqual([]);
});
