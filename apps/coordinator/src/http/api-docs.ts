/**
 * The page that describes the REST interface. Swagger is the heaviest import of the coordinator and most
 * coordinators are never asked for the page, so it comes into memory with the first request for it.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ROUTES } from '@broadside/shared';
import { isBelow, pathOf } from './path.js';

type Next = (error?: unknown) => void;
type RequestHandler = (request: IncomingMessage, response: ServerResponse, next: Next) => void;

/** Middleware for `ROUTES.openApi` and what is below it; the document itself is at `…/json`. */
export function apiDocs(): RequestHandler {
  let site: Promise<RequestHandler> | undefined;
  return (request, response, next) => {
    if (!isBelow(pathOf(request), ROUTES.openApi)) {
      next();
      return;
    }
    site ??= buildSite();
    void serve(site, request, response, next);
  };
}

async function serve(site: Promise<RequestHandler>, ...given: Parameters<RequestHandler>): Promise<void> {
  let handle: RequestHandler;
  try {
    handle = await site;
  } catch (error) {
    given[2](error);
    return;
  }
  handle(...given);
}

/** A Nest application of its own that is never bound to a port: only its request handler is used. */
async function buildSite(): Promise<RequestHandler> {
  const [{ SwaggerModule }, { NestFactory }, { ExpressAdapter }, { DocsModule }, { openApiDocument }] =
    await Promise.all([
      import('@nestjs/swagger'),
      import('@nestjs/core'),
      import('@nestjs/platform-express'),
      import('./docs.module.js'),
      import('./openapi-document.js'),
    ]);
  const adapter = new ExpressAdapter();
  // Anybody may ask here, so no parser is given anything to read.
  const site = await NestFactory.create(DocsModule, adapter, { logger: false, bodyParser: false });
  // The document is ours, not one of Swagger's making, so its type is only structurally the same.
  const document = openApiDocument() as unknown as Parameters<typeof SwaggerModule.setup>[2];
  SwaggerModule.setup(ROUTES.openApi, site, document, { jsonDocumentUrl: `${ROUTES.openApi}/json` });
  await site.init();
  return adapter.getInstance<RequestHandler>();
}
