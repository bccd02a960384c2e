import { z } from 'zod';
import { LIMITS } from '../limits.js';
import { formatCounted } from '../units.js';
import { utf8Bytes } from './body-bytes.js';
import { connectionFields } from './connection-fields.js';
import { labelsSchema } from './labels.js';
import {
  isPaced,
  loadFields,
  pipelineProblem,
  randomnessProblem,
  stagedConnections,
  stagesDurationMs,
  stagesProblem,
  warmupProblem,
} from './load-fields.js';
import { asInPlan, type NameOfField, namingIssue } from './naming-issue.js';
import { durationMs, wholeNumber } from './quantity.schema.js';
import { strictFields } from './strict-fields.js';
import { parseTarget } from './target.js';

/** Defaults of a plan, in one table. What is absent here is required or has no value unless given. */
export const PLAN_DEFAULTS = {
  method: 'GET',
  httpVersion: '1.1',
  exactHeaders: false,
  keepAlive: true,
  connections: 10,
  timeoutMs: 30_000,
  checkLength: false,
  failOnStatus: true,
  onSocketError: 'continue',
  probe: false,
  maxReplyHeaderBytes: LIMITS.defaultReplyHeaderBytes,
  maxReplyBodyBytes: LIMITS.defaultReplyBodyBytes,
} as const;

/** Duration of a plan that names neither requests nor duration. */
export const DEFAULT_DURATION_MS = 10_000;

const NO_LINE_BREAK = /^[^\r\n\0]*$/;

/** What a header line must begin with, unless lines are sent exactly as they are. */
const HEADER_LINE = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+:/;

const headerLine = z
  .string()
  .min(1)
  .max(LIMITS.maxRequestHeaderBytes)
  .regex(NO_LINE_BREAK, 'a header line must not hold a line break');

const headers = z.union(
  [
    z.array(headerLine).max(LIMITS.maxRequestHeaders),
    z
      .record(
        z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'not a header name'),
        z.union([z.string(), z.number()]),
      )
      .transform((record) => Object.entries(record).map(([name, value]) => `${name}: ${value}`))
      .pipe(z.array(headerLine).max(LIMITS.maxRequestHeaders)),
  ],
  'must be a list of lines `Name: value`, or a map of header names to values',
);

/** The fields of a plan, each checked by itself. */
const planFields = strictFields(
  {
    /** Shown in lists and reports. */
    name: z.string().min(1).max(200).regex(NO_LINE_BREAK, 'must be one line').optional(),
    /** `http://host[:port]/path` */
    target: z
      .string({ error: (issue) => (issue.input === undefined ? 'is missing' : 'must be text') })
      .max(LIMITS.maxTargetLength)
      .superRefine((address, context) => {
        const target = parseTarget(address);
        if (typeof target === 'string') context.addIssue({ code: 'custom', message: target });
      }),
    method: z
      .string()
      .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/, 'not an HTTP method')
      .default(PLAN_DEFAULTS.method),
    httpVersion: z.enum(['1.0', '1.1']).default(PLAN_DEFAULTS.httpVersion),
    /** Header lines `Name: value` in order, or a map of names to values. */
    headers: headers.default([]),
    /** True: send exactly `headers`. False: Host, User-Agent, Accept, Connection and Content-Length are added. */
    exactHeaders: z.boolean().default(PLAN_DEFAULTS.exactHeaders),
    /** Request body as text, or as base64. */
    body: z
      .string()
      .refine((body) => utf8Bytes(body) <= LIMITS.maxRequestBodyBytes, {
        message: `must be at most ${LIMITS.maxRequestBodyBytes} bytes`,
      })
      .optional(),
    bodyBase64: z
      .base64()
      .max(Math.ceil(LIMITS.maxRequestBodyBytes / 3) * 4)
      .optional(),
    keepAlive: z.boolean().default(PLAN_DEFAULTS.keepAlive),
    /**
     * Connections over all agents: kept busy in the closed model, opened as they are needed where there is a
     * rate. Absent: 10, or the largest number of the stages.
     */
    connections: wholeNumber(LIMITS.maxConnections).optional(),
    /** Budget: requests, duration, or both (whichever is used up first). Neither: 10 s. */
    requests: wholeNumber(LIMITS.maxRequests).optional(),
    durationMs: durationMs(LIMITS.maxDurationMs).optional(),
    /** Other spelling of `durationMs` for people: `duration: 30s`. */
    duration: durationMs(LIMITS.maxDurationMs).optional(),
    /** Longest time for one request, connecting included. */
    timeoutMs: durationMs(LIMITS.maxTimeoutMs).optional(),
    /** Other spelling of `timeoutMs`. */
    timeout: durationMs(LIMITS.maxTimeoutMs).optional(),
    /** Longest time until a connection is open, TLS handshake included; absent: `timeoutMs` bounds it too. */
    connectTimeoutMs: durationMs(LIMITS.maxTimeoutMs).optional(),
    /** Other spelling of `connectTimeoutMs`. */
    connectTimeout: durationMs(LIMITS.maxTimeoutMs).optional(),
    ...connectionFields,
    ...loadFields,
    /** Whether a reply whose body length differs from the first reply's is a failure. Needs `probe`. */
    checkLength: z.boolean().default(PLAN_DEFAULTS.checkLength),
    /** Whether a status other than 2xx is a failure. */
    failOnStatus: z.boolean().default(PLAN_DEFAULTS.failOnStatus),
    /** Whether the first connect or receive error ends the run. */
    onSocketError: z.enum(['continue', 'stop']).default(PLAN_DEFAULTS.onSocketError),
    /** Whether one request is sent alone before all others, as `ab` does; its reply is the reference. */
    probe: z.boolean().default(PLAN_DEFAULTS.probe),
    /** Whether the report holds what was read of the first reply, its cookies left out. Needs `probe`. */
    keepFirstReply: z.boolean().optional(),
    maxReplyHeaderBytes: wholeNumber(LIMITS.maxReplyHeaderBytes).default(PLAN_DEFAULTS.maxReplyHeaderBytes),
    maxReplyBodyBytes: wholeNumber(LIMITS.maxReplyBodyBytes).default(PLAN_DEFAULTS.maxReplyBodyBytes),
    /**
     * What becomes of the load of an agent that is lost: rebalance (others take over what is left of it; the
     * default), continue (it is left out), or abort (the run ends).
     */
    onAgentLoss: z
      .enum(['rebalance', 'continue', 'abort'], 'must be rebalance, continue or abort')
      .optional(),
    /** Number of slots to use; absent: as many as are free, at most one per connection. */
    slots: wholeNumber(LIMITS.maxShards).optional(),
    /** What a slot's share of the load follows: its capacity (the default), or nothing, so that all are equal. */
    weights: z.enum(['capacity', 'equal'], 'must be capacity or equal').optional(),
    /** Labels that every agent of the run must have: its pool. Absent: every agent. */
    on: labelsSchema.optional(),
    /** Longest time that the run waits for its slots; absent: one hour. */
    maxWaitMs: durationMs(LIMITS.maxWaitMs).optional(),
    /** Other spelling of `maxWaitMs`. */
    maxWait: durationMs(LIMITS.maxWaitMs).optional(),
  },
  'must be an object with fields such as target',
);
type PlanFields = z.output<typeof planFields>;

/**
 * A check of fields against each other. It runs whenever these fields are right by themselves, so that all
 * problems of a plan come at once; its problem is put down to the first of them that was given.
 * @param problemOf calls other fields by the names that it is handed.
 */
function together<Field extends keyof PlanFields>(
  fields: readonly [Field, ...Field[]],
  problemOf: (plan: Pick<PlanFields, Field>, nameOf: NameOfField) => string | undefined,
) {
  const wanted = new Set<PropertyKey>(fields);
  return z.superRefine<PlanFields>(
    (plan, context) => {
      if (problemOf(plan, asInPlan) === undefined) return;
      const field = fields.find((name) => plan[name] !== undefined) ?? fields[0];
      const issue = namingIssue(field, (nameOf) => problemOf(plan, nameOf) ?? '');
      context.addIssue({ ...issue, params: { ...issue.params, isTogether: true } });
    },
    {
      when: ({ value, issues }) =>
        typeof value === 'object' &&
        value !== null &&
        !issues.some((issue) => wanted.has(issue.path?.[0] ?? '') && !isTogether(issue)),
    },
  );
}

/** True for a problem that another check of this kind found: the fields are right by themselves. */
function isTogether(issue: z.core.$ZodRawIssue): boolean {
  return issue.code === 'custom' && issue.params?.['isTogether'] === true;
}

type ConnectionsPlan = Pick<PlanFields, 'connections' | 'stages' | 'rate' | 'requests'>;

function connectionsOf(plan: ConnectionsPlan): number {
  return plan.connections ?? stagedConnections(plan.stages) ?? usualConnections(plan);
}

/** Whoever asks for fewer requests than the usual connections, and for no number of these, wants no more. */
function usualConnections(plan: ConnectionsPlan): number {
  const { connections } = PLAN_DEFAULTS;
  return isPaced(plan) ? connections : Math.min(connections, plan.requests ?? connections);
}

/** Two spellings, or two forms, of one thing. */
function either<Field extends keyof PlanFields>(one: Field, other: Field) {
  return together([one, other], (plan, nameOf) =>
    plan[one] !== undefined && plan[other] !== undefined
      ? `give ${nameOf(one)} or ${nameOf(other)}, not both`
      : undefined,
  );
}

/**
 * What a user asks for. Flat, so that a YAML plan is short. Accepted in the same form everywhere: plan file,
 * command line, REST. Parsing gives a plan that parses to itself.
 */
export const planSchema = planFields
  .check(
    together(['connections', 'stages', 'requests', 'rate'], (plan) => {
      const connections = connectionsOf(plan);
      // A schedule leaves connections unopened that it has no use for.
      return plan.requests !== undefined && connections > plan.requests && !isPaced(plan)
        ? `${connections} connections are more than ${formatCounted(plan.requests, 'request')}`
        : undefined;
    }),
    together(['slots', 'connections', 'requests', 'rate', 'stages'], (plan) => {
      const connections = connectionsOf(plan);
      return plan.slots !== undefined && plan.slots > connections
        ? `${plan.slots} slots are more than ${formatCounted(connections, 'connection')}`
        : undefined;
    }),
    together(['stages', 'rate', 'connections', 'duration', 'durationMs', 'keepAlive'], stagesProblem),
    together(['arrivals', 'rate', 'stages'], randomnessProblem('arrivals')),
    together(['seed', 'rate', 'stages'], randomnessProblem('seed')),
    together(['warmup', 'warmupMs', 'stages', 'rate'], warmupProblem),
    together(['pipeline', 'keepAlive'], pipelineProblem),
    either('duration', 'durationMs'),
    either('timeout', 'timeoutMs'),
    either('connectTimeout', 'connectTimeoutMs'),
    together(['tls', 'target'], ({ tls, target }) =>
      tls !== undefined && !target.startsWith('https://') ? 'needs an https target' : undefined,
    ),
    together(['connectTo', 'proxy'], ({ connectTo, proxy }, nameOf) =>
      connectTo !== undefined && proxy !== undefined ? `cannot be used with ${nameOf('proxy')}` : undefined,
    ),
    together(['unixSocket', 'proxy', 'connectTo', 'bind', 'addresses'], (plan, nameOf) => {
      const other = (['proxy', 'connectTo', 'bind', 'addresses'] as const).find(
        (name) => plan[name] !== undefined,
      );
      return plan.unixSocket !== undefined && other !== undefined
        ? `cannot be used with ${nameOf(other)}`
        : undefined;
    }),
    together(['proxyUser', 'proxy'], ({ proxyUser, proxy }) =>
      proxyUser !== undefined && proxy === undefined ? 'needs a proxy' : undefined,
    ),
    together(['headers', 'exactHeaders'], ({ headers, exactHeaders }) => {
      // For what is no plan at all there are no fields.
      const at =
        Array.isArray(headers) && !exactHeaders ? headers.findIndex((line) => !HEADER_LINE.test(line)) : -1;
      return at < 0 ? undefined : `header ${at + 1} is not \`Name: value\``;
    }),
    together(['user', 'exactHeaders'], ({ user, exactHeaders }) =>
      user !== undefined && exactHeaders
        ? 'cannot be used with exactHeaders: write the Authorization header'
        : undefined,
    ),
    together(['proxyUser', 'exactHeaders', 'target'], ({ proxyUser, exactHeaders, target }) =>
      proxyUser !== undefined && exactHeaders && !target.startsWith('https://')
        ? 'cannot be used with exactHeaders: write the Proxy-Authorization header'
        : undefined,
    ),
    either('maxWait', 'maxWaitMs'),
    either('bodyBase64', 'body'),
    together(['checkLength', 'probe'], ({ checkLength, probe }) =>
      checkLength && !probe ? 'needs probe: true' : undefined,
    ),
    together(['keepFirstReply', 'probe'], ({ keepFirstReply, probe }) =>
      keepFirstReply === true && !probe ? 'needs probe: true' : undefined,
    ),
  )
  .transform(({ duration, timeout, connectTimeout, warmup, maxWait, ...plan }) => {
    const stagedMs = plan.stages === undefined ? undefined : stagesDurationMs(plan.stages);
    const givenMs = plan.durationMs ?? duration ?? stagedMs;
    const warmupMs = plan.warmupMs ?? warmup;
    const budget = givenMs ?? (plan.requests === undefined ? DEFAULT_DURATION_MS : undefined);
    const connectTimeoutMs = plan.connectTimeoutMs ?? connectTimeout;
    const maxWaitMs = plan.maxWaitMs ?? maxWait;
    return {
      ...plan,
      connections: connectionsOf(plan),
      timeoutMs: plan.timeoutMs ?? timeout ?? PLAN_DEFAULTS.timeoutMs,
      ...(connectTimeoutMs === undefined ? {} : { connectTimeoutMs }),
      ...(budget === undefined ? {} : { durationMs: budget }),
      ...(warmupMs === undefined ? {} : { warmupMs }),
      ...(maxWaitMs === undefined ? {} : { maxWaitMs }),
    };
  });

/** What may be given. */
export type PlanInput = z.input<typeof planSchema>;
/** A checked plan, defaults filled in. Immutable once accepted. */
export type Plan = Readonly<z.output<typeof planSchema>>;
