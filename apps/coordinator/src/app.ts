/** The HTTP side: Nest with everything that stands before and behind its routes. */
import 'reflect-metadata';
import { BroadsideError, problemsOf } from '@broadside/shared';
import { StandardSchemaValidationPipe } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Logger } from 'pino';
import { z } from 'zod';
import { requireRole } from './access/caller.js';
import type { Gate } from './access/gate.js';
import { AppModule } from './app.module.js';
import type { Building } from './build-parts.js';
import { apiDocs } from './http/api-docs.js';
import { ErrorFilter } from './http/error.filter.js';
import { HardenedAdapter } from './http/http-server.js';
import { jsonBody } from './http/json-body.js';
import { securityHeaders } from './http/security-headers.js';
import type { TlsFiles } from './http/tls-files.js';
import type { NestLogger } from './nest-logger.js';

export interface AppOptions {
  readonly building: Promise<Building>;
  readonly gate: Gate;
  /** Absent: plain HTTP. */
  readonly tls: TlsFiles | undefined;
  readonly log: Logger;
  readonly logger: NestLogger;
}

/** Built, and not yet listening. */
export async function createApp(options: AppOptions): Promise<NestExpressApplication> {
  const { building, gate, tls, log, logger } = options;
  const parts = building.then((built) => built.parts);
  // Nest comes to wait for them a little later; a failure before that is not lost, because `building` has it too.
  parts.catch(() => undefined);
  const app = await NestFactory.create<NestExpressApplication>(
    AppModule.of(parts),
    new HardenedAdapter(tls),
    {
      logger,
      // A failure to build is thrown to the caller, who can say what it was.
      abortOnError: false,
      bodyParser: false,
    },
  );
  app.disable('x-powered-by');
  app.use(securityHeaders(tls !== undefined));
  app.use(requireRole(gate));
  app.use(apiDocs());
  app.use(jsonBody);
  app.useGlobalFilters(new ErrorFilter(log));
  app.useGlobalPipes(new StandardSchemaValidationPipe({ exceptionFactory: invalidBody }));
  return app;
}

function invalidBody(issues: readonly object[]): BroadsideError {
  // All schemas of routes are zod's, and so are the issues that the pipe hands on.
  const problems = problemsOf(new z.ZodError(issues as z.core.$ZodIssue[]));
  const lines = problems
    .slice(0, 5)
    .map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  const more = problems.length > lines.length ? ` and ${problems.length - lines.length} more` : '';
  return new BroadsideError('invalid', `not valid: ${lines.join('; ')}${more}`, { problems });
}
