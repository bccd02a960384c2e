import { z } from 'zod';
import { LIMITS } from '../limits.js';
import { parseDurationMs } from '../units.js';
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

function wholeNumber(most: number, what: string) {
  return z
    .number(`${what} must be a whole number`)
    .int(`${what} must be a whole number`)
    .min(1, `${what} must be at least 1`)
    .max(most, `${what} must be at most ${most}`);
}

/** A number of ms, or text like `30s`. */
function durationMs(mostMs: number) {
  return z.union([z.number(), z.string()]).transform((value, context) => {
    const parsed = typeof value === 'number' ? value : parseDurationMs(value);
    if (parsed === undefined || !Number.isInteger(parsed) || parsed < 1 || parsed > mostMs) {
      context.addIssue({
        code: 'custom',
        message: `must be a duration between 1ms and ${mostMs / 1000}s, like 30s`,
      });
      return z.NEVER;
    }
    return parsed;
  });
}

const headerLine = z
  .string()
  .min(1)
  .max(LIMITS.maxRequestHeaderBytes)
  .regex(NO_LINE_BREAK, 'a header line must not hold a line break');

const headers = z.union([
  z.array(headerLine).max(LIMITS.maxRequestHeaders),
  z
    .record(
      z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'not a header name'),
      z.union([z.string(), z.number()]),
    )
    .transform((record) => Object.entries(record).map(([name, value]) => `${name}: ${value}`))
    .pipe(z.array(headerLine).max(LIMITS.maxRequestHeaders)),
]);

/**
 * What a user asks for. Flat, so that a YAML plan is short. Accepted in the same form everywhere: plan file,
 * command line, REST. Parsing gives a plan that parses to itself.
 */
export const planSchema = z
  .strictObject({
    /** Shown in lists and reports. */
    name: z.string().min(1).max(200).regex(NO_LINE_BREAK, 'must be one line').optional(),
    /** `http://host[:port]/path` */
    target: z
      .string()
      .max(LIMITS.maxTargetLength)
      .superRefine((address, context) => {
        const target = parseTarget(address);
        if (typeof target === 'string') context.addIssue({ code: 'custom', message: target });
        else if (target.scheme === 'https') {
          context.addIssue({ code: 'custom', message: 'https targets are not supported by this version' });
        }
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
    body: z.string().max(LIMITS.maxRequestBodyBytes).optional(),
    bodyBase64: z
      .base64()
      .max(Math.ceil(LIMITS.maxRequestBodyBytes / 3) * 4)
      .optional(),
    keepAlive: z.boolean().default(PLAN_DEFAULTS.keepAlive),
    /** Connections that are kept busy, over all agents. */
    connections: wholeNumber(LIMITS.maxConnections, 'connections').default(PLAN_DEFAULTS.connections),
    /** Budget: requests, duration, or both (whichever is used up first). Neither: 10 s. */
    requests: wholeNumber(LIMITS.maxRequests, 'requests').optional(),
    durationMs: durationMs(LIMITS.maxDurationMs).optional(),
    /** Other spelling of `durationMs` for people: `duration: 30s`. */
    duration: durationMs(LIMITS.maxDurationMs).optional(),
    /** Longest time for one request, connecting included. */
    timeoutMs: durationMs(LIMITS.maxTimeoutMs).optional(),
    /** Other spelling of `timeoutMs`. */
    timeout: durationMs(LIMITS.maxTimeoutMs).optional(),
    /** Whether a reply whose body length differs from the first reply's is a failure. Needs `probe`. */
    checkLength: z.boolean().default(PLAN_DEFAULTS.checkLength),
    /** Whether a status other than 2xx is a failure. */
    failOnStatus: z.boolean().default(PLAN_DEFAULTS.failOnStatus),
    /** Whether the first connect or receive error ends the run. */
    onSocketError: z.enum(['continue', 'stop']).default(PLAN_DEFAULTS.onSocketError),
    /** Whether one request is sent alone before all others, as `ab` does; its reply is the reference. */
    probe: z.boolean().default(PLAN_DEFAULTS.probe),
    maxReplyHeaderBytes: wholeNumber(LIMITS.maxReplyHeaderBytes, 'maxReplyHeaderBytes').default(
      PLAN_DEFAULTS.maxReplyHeaderBytes,
    ),
    maxReplyBodyBytes: wholeNumber(LIMITS.maxReplyBodyBytes, 'maxReplyBodyBytes').default(
      PLAN_DEFAULTS.maxReplyBodyBytes,
    ),
    /** Number of slots to use; absent: as many as are free, at most one per connection. */
    slots: wholeNumber(LIMITS.maxShards, 'slots').optional(),
  })
  .superRefine((plan, context) => {
    if (plan.requests !== undefined && plan.connections > plan.requests) {
      context.addIssue({
        code: 'custom',
        path: ['connections'],
        message: `${plan.connections} connections are more than ${plan.requests} requests`,
      });
    }
    if (plan.slots !== undefined && plan.slots > plan.connections) {
      context.addIssue({
        code: 'custom',
        path: ['slots'],
        message: `${plan.slots} slots are more than ${plan.connections} connections`,
      });
    }
    for (const [short, long] of [
      ['duration', 'durationMs'],
      ['timeout', 'timeoutMs'],
    ] as const) {
      if (plan[short] !== undefined && plan[long] !== undefined) {
        context.addIssue({ code: 'custom', path: [short], message: `give ${short} or ${long}, not both` });
      }
    }
    if (plan.body !== undefined && plan.bodyBase64 !== undefined) {
      context.addIssue({
        code: 'custom',
        path: ['bodyBase64'],
        message: 'give body or bodyBase64, not both',
      });
    }
    if (plan.checkLength && !plan.probe) {
      context.addIssue({ code: 'custom', path: ['checkLength'], message: 'needs probe: true' });
    }
  })
  .transform(({ duration, timeout, ...plan }) => {
    const givenMs = plan.durationMs ?? duration;
    const budget = givenMs ?? (plan.requests === undefined ? DEFAULT_DURATION_MS : undefined);
    return {
      ...plan,
      timeoutMs: plan.timeoutMs ?? timeout ?? PLAN_DEFAULTS.timeoutMs,
      ...(budget === undefined ? {} : { durationMs: budget }),
    };
  });

/** What may be given. */
export type PlanInput = z.input<typeof planSchema>;
/** A checked plan, defaults filled in. Immutable once accepted. */
export type Plan = Readonly<z.output<typeof planSchema>>;
