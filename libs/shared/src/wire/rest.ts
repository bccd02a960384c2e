import { z } from 'zod';
import { LIMITS } from '../limits.js';
import { labelsSchema } from '../plan/labels.js';
import { planSchema } from '../plan/plan.schema.js';
import { redactedFields } from '../plan/redact-plan.js';
import { agentIdSchema, runIdSchema } from '../plan/shard.schema.js';
import { REDACTED } from '../plan/tls.schema.js';
import { reportSchema, verdictSchema } from '../report/report.schema.js';
import { runStateSchema } from './live-message.js';
import { machineSchema } from './machine.schema.js';
import { slotStrengthFields } from './slot-strength.js';

/** Paths of the coordinator's HTTP interface. */
export const ROUTES = {
  runs: '/api/runs',
  agents: '/api/agents',
  /** WebSocket, `?run=<id>`: live messages of one run. */
  live: '/api/live',
  tokens: '/api/tokens',
  audit: '/api/audit',
  /** One-use tickets for the live stream. */
  tickets: '/api/tickets',
  /** The kill switch. */
  kill: '/api/kill',
  /** WebSocket of the agents. */
  agentSocket: '/agent',
  healthz: '/healthz',
  readyz: '/readyz',
  openApi: '/api/docs',
} as const;

/** A plan that was copied from a report lacks its secrets, and would only fail at the target. */
export const createRunSchema = planSchema.superRefine((plan, context) => {
  for (const field of redactedFields(plan)) {
    const message = `holds ${REDACTED} in place of a secret; give the secret again`;
    context.addIssue({ code: 'custom', path: field.split('.'), message });
  }
});

export const runSummarySchema = z.object({
  id: runIdSchema,
  state: runStateSchema,
  reason: z.string().optional(),
  /** Of a queued run: 1 is the next one of those that want the same agents. */
  position: z.int().min(1).optional(),
  target: z.string(),
  name: z.string().optional(),
  createdAt: z.string(),
  startedAt: z.string().optional(),
  endedAt: z.string().optional(),
  /** Of the report, where there is one: complete requests. */
  completed: z.int().min(0).optional(),
  verdict: verdictSchema.shape.outcome.optional(),
});
export type RunSummary = z.infer<typeof runSummarySchema>;

/** What `GET` of the runs is asked: so many, the newest first. */
export const runQuerySchema = z.strictObject({
  limit: z.coerce.number().int().min(1).max(LIMITS.maxListedRuns).default(200),
});
export type RunQuery = z.infer<typeof runQuerySchema>;

export const runDetailSchema = runSummarySchema.extend({
  plan: planSchema,
  /** Present in a final state. */
  report: reportSchema.optional(),
});
export type RunDetail = z.infer<typeof runDetailSchema>;

export const agentSummarySchema = z.object({
  id: agentIdSchema,
  name: z.string(),
  version: z.string(),
  slots: z.int(),
  freeSlots: z.int(),
  machine: machineSchema,
  labels: labelsSchema.optional(),
  ...slotStrengthFields,
  clockOffsetUs: z.number(),
  clockUncertaintyUs: z.number(),
  connectedAt: z.string(),
});
export type AgentSummary = z.infer<typeof agentSummarySchema>;

/** Body of every refusal. */
export const errorBodySchema = z.object({
  error: z.object({
    code: z.string(),
    /** A whole sentence for people; where there are problems, it tells them, or the first of many. */
    message: z.string(),
    hint: z.string().optional(),
    /** All problems once more, for programs. */
    problems: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  }),
});
export type ErrorBody = z.infer<typeof errorBodySchema>;
