/** Description of the REST interface, made from the same schemas that check it. Pure. */
import {
  agentSummarySchema,
  auditEntrySchema,
  BROADSIDE_VERSION,
  createdTokenSchema,
  createRunSchema,
  createTokenSchema,
  ERROR_STATUS,
  type ErrorCode,
  errorBodySchema,
  killRequestSchema,
  killStateSchema,
  ROUTES,
  runDetailSchema,
  runSummarySchema,
  ticketSchema,
  tokenSummarySchema,
} from '@broadside/shared';
import { z } from 'zod';

type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

const SCHEMAS = {
  Plan: createRunSchema,
  RunSummary: runSummarySchema,
  RunDetail: runDetailSchema,
  AgentSummary: agentSummarySchema,
  NewToken: createTokenSchema,
  CreatedToken: createdTokenSchema,
  TokenSummary: tokenSummarySchema,
  Ticket: ticketSchema,
  AuditEntry: auditEntrySchema,
  KillRequest: killRequestSchema,
  KillState: killStateSchema,
  Error: errorBodySchema,
} as const;
type SchemaName = keyof typeof SCHEMAS;

/** The whole document (OpenAPI 3.1, whose schemas are JSON Schema 2020-12 as zod writes it). */
export function openApiDocument(): JsonValue {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Broadside coordinator',
      version: BROADSIDE_VERSION,
      description: 'Posts runs, watches them and reads their reports.',
    },
    paths: {
      ...runPaths(),
      [ROUTES.agents]: {
        get: operation('The agents that are connected', {
          success: [200, 'The agents', arrayOf('AgentSummary')],
          errors: ['unauthorized'],
        }),
      },
      ...accessPaths(),
      ...killPaths(),
      [ROUTES.healthz]: {
        get: operation('Whether the process answers', {
          success: [200, 'It does', { type: 'object' }],
          errors: [],
        }),
      },
      [ROUTES.readyz]: {
        get: operation('Whether store and queue can be reached and runs are accepted', {
          success: [200, 'They can', { type: 'object' }],
          errors: ['unavailable'],
        }),
      },
    },
    components: {
      schemas: Object.fromEntries(
        Object.entries(SCHEMAS).map(([name, schema]) => [name, jsonSchemaOf(name, schema)]),
      ),
      securitySchemes: { apiToken: { type: 'http', scheme: 'bearer' } },
    },
    security: [{}, { apiToken: [] }],
  };
}

/** Paths of a document, each with its operations. */
type Paths = { readonly [path: string]: JsonValue };

function runPaths(): Paths {
  return {
    [ROUTES.runs]: {
      post: operation('Starts a run, as soon as it gets its slots', {
        body: 'Plan',
        success: [201, 'The run was taken in', ref('RunSummary')],
        errors: [
          'invalid',
          'unauthorized',
          'forbidden',
          'notAllowed',
          'conflict',
          'tooLarge',
          'unsupported',
          'noSuchAgents',
          'notEnoughSlots',
          'busy',
          'unavailable',
        ],
      }),
      get: operation('Runs, newest first', {
        query: ['limit'],
        success: [200, 'At most `limit` runs (200)', arrayOf('RunSummary')],
        errors: ['invalid', 'unauthorized'],
      }),
    },
    [`${ROUTES.runs}/{id}`]: {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
      get: operation('One run, with its report when it has ended', {
        success: [200, 'The run', ref('RunDetail')],
        errors: ['unauthorized', 'notFound'],
      }),
      delete: operation('Stops a run; its report says what was done until then', {
        success: [202, 'The run is ending', ref('RunSummary')],
        errors: ['unauthorized', 'forbidden', 'notFound', 'conflict'],
      }),
    },
  };
}

function accessPaths(): Paths {
  return {
    [ROUTES.tokens]: {
      post: operation('Makes a token', {
        body: 'NewToken',
        success: [201, 'The token, told this once', ref('CreatedToken')],
        errors: ['invalid', 'unauthorized', 'forbidden', 'conflict'],
      }),
      get: operation('All tokens, newest first, without their texts', {
        success: [200, 'The tokens', arrayOf('TokenSummary')],
        errors: ['unauthorized', 'forbidden'],
      }),
    },
    [`${ROUTES.tokens}/{id}`]: {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
      delete: operation('Revokes a token, and ends the connections that came with it', {
        success: [200, 'The token', ref('TokenSummary')],
        errors: ['unauthorized', 'forbidden', 'notFound', 'conflict'],
      }),
    },
    [ROUTES.audit]: {
      get: operation('Who did what, newest first', {
        query: ['limit', 'before'],
        success: [
          200,
          'At most `limit` lines, older than the one with the id `before`',
          arrayOf('AuditEntry'),
        ],
        errors: ['invalid', 'unauthorized', 'forbidden'],
      }),
    },
    [ROUTES.tickets]: {
      post: operation('A ticket that opens one live stream within half a minute, for browsers', {
        success: [201, 'The ticket', ref('Ticket')],
        errors: ['unauthorized'],
      }),
    },
  };
}

function killPaths(): Paths {
  return {
    [ROUTES.kill]: {
      get: operation('Whether the kill switch is on', {
        success: [200, 'Its state', ref('KillState')],
        errors: ['unauthorized'],
      }),
      post: operation('Stops all load, and takes no run in until it is released', {
        body: 'KillRequest',
        success: [200, 'All load is stopped', ref('KillState')],
        errors: ['invalid', 'unauthorized', 'forbidden', 'unavailable'],
      }),
      delete: operation('Releases the kill switch: runs are taken in again', {
        success: [200, 'It is off', ref('KillState')],
        errors: ['unauthorized'],
      }),
    },
  };
}

/** Input side: what may be given. Plans have transforms, whose output JSON Schema cannot tell. */
function jsonSchemaOf(name: string, schema: z.ZodType): JsonValue {
  const io = name === 'Error' ? 'output' : 'input';
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  // What zod writes is JSON; its type leaves room for more.
  return JSON.parse(JSON.stringify(rest)) as JsonValue;
}

interface OperationParts {
  /** Whole numbers that may stand in the query. */
  readonly query?: readonly string[];
  readonly body?: SchemaName;
  readonly success: readonly [status: number, description: string, schema: JsonValue];
  readonly errors: readonly ErrorCode[];
}

function operation(summary: string, parts: OperationParts): JsonValue {
  const [status, description, schema] = parts.success;
  const errors = parts.errors.map((code): [string, JsonValue] => [
    String(ERROR_STATUS[code]),
    { description: code, content: json(ref('Error')) },
  ]);
  return {
    summary,
    ...(parts.query === undefined ? {} : { parameters: queryParameters(parts.query) }),
    ...(parts.body === undefined ? {} : { requestBody: { required: true, content: json(ref(parts.body)) } }),
    responses: { [status]: { description, content: json(schema) }, ...Object.fromEntries(errors) },
  };
}

function queryParameters(names: readonly string[]): JsonValue {
  return names.map((name) => ({ name, in: 'query', schema: { type: 'integer', minimum: 1 } }));
}

function json(schema: JsonValue): JsonValue {
  return { 'application/json': { schema } };
}

function ref(name: SchemaName): JsonValue {
  return { $ref: `#/components/schemas/${name}` };
}

function arrayOf(name: SchemaName): JsonValue {
  return { type: 'array', items: ref(name) };
}
