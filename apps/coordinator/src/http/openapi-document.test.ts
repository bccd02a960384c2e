import { PLAN_DEFAULTS, ROUTES } from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import { openApiDocument } from './openapi-document.js';

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, { readonly properties?: object }>> };
}

describe('the OpenAPI document', () => {
  // The document is JSON; the test looks at a part of it.
  const document = openApiDocument() as unknown as Document;

  it('has every field of a plan', () => {
    const fields = Object.keys(document.components.schemas.Plan?.properties ?? {});
    expect(fields).toEqual(
      expect.arrayContaining(['target', 'requests', 'duration', ...Object.keys(PLAN_DEFAULTS)]),
    );
  });

  it('has every route of the REST interface', () => {
    expect(Object.keys(document.paths)).toEqual([
      ROUTES.runs,
      `${ROUTES.runs}/{id}`,
      ROUTES.agents,
      ROUTES.tokens,
      `${ROUTES.tokens}/{id}`,
      ROUTES.audit,
      ROUTES.tickets,
      ROUTES.kill,
      ROUTES.healthz,
      ROUTES.readyz,
    ]);
    expect(Object.keys(document.paths[ROUTES.runs] ?? {})).toEqual(['post', 'get']);
  });

  it('refers only to schemas that it has', () => {
    const text = JSON.stringify(document);
    for (const [, name] of text.matchAll(/#\/components\/schemas\/(\w+)/g)) {
      expect(document.components.schemas[name ?? ''], name).toBeDefined();
    }
    expect(text).not.toContain('#/$defs');
  });
});
