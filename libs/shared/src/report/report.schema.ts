import { z } from 'zod';
import { COUNTER_NAMES, type CounterName, countersOfVersion } from '../metrics/counters.js';
import { fatalSchema } from '../metrics/fatal.js';
import { labelsSchema } from '../plan/labels.js';
import { planSchema } from '../plan/plan.schema.js';
import { agentIdSchema, runIdSchema } from '../plan/shard.schema.js';
import { runStateSchema, secondSchema } from '../wire/live-message.js';
import { machineSchema } from '../wire/machine.schema.js';
import { slotStrengthFields } from '../wire/slot-strength.js';
import { failureReasonSchema, tlsFactsSchema } from '../wire/tls-facts.js';
import { lossSchema } from './loss.js';
import { outlierSchema } from './outliers.js';

/** Version of the report document. A reader refuses a newer major change by this number. */
export const REPORT_VERSION = 1;

/** One latency, in µs: exact count, extremes and moments; percentiles and bins of the merged histogram. */
export const latencySchema = z.object({
  count: z.number(),
  minUs: z.number(),
  meanUs: z.number(),
  stddevUs: z.number(),
  maxUs: z.number(),
  p50Us: z.number(),
  p66Us: z.number(),
  p75Us: z.number(),
  p80Us: z.number(),
  p90Us: z.number(),
  p95Us: z.number(),
  p98Us: z.number(),
  p99Us: z.number(),
  p999Us: z.number(),
  p9999Us: z.number(),
  /** Non-empty buckets: lowest value of the bucket in µs, and how many. */
  bins: z.array(z.tuple([z.number(), z.number()])),
});
export type Latency = z.infer<typeof latencySchema>;

/** Numbers that are no times: exact count and extremes; bins as in a latency. */
export const distributionSchema = z.object({
  count: z.number(),
  min: z.number(),
  mean: z.number(),
  p50: z.number(),
  max: z.number(),
  bins: z.array(z.tuple([z.number(), z.number()])),
});
export type Distribution = z.infer<typeof distributionSchema>;

/** What every report has had; the others are 0 in earlier ones. */
const FIRST_COUNTERS: readonly CounterName[] = countersOfVersion(1);

const countersSchema = z.object(
  // Each is a number when it was read, whether by default or not.
  Object.fromEntries(
    COUNTER_NAMES.map((name) => [name, FIRST_COUNTERS.includes(name) ? z.number() : z.number().default(0)]),
  ) as Record<CounterName, z.ZodNumber>,
);

/** What an engine thread measured of itself. Absent where the platform does not tell. */
export const selfMeasurementSchema = z.object({
  /** Shares of the time of the shard, 0 … 1: not waiting for events; on a CPU; ready to run and without one. */
  busyShare: z.number(),
  cpuShare: z.number(),
  runDelayShare: z.number().optional(),
  /** CPU time that the hypervisor gave to others, as a share of the machine's. */
  stealShare: z.number().optional(),
  cpuUs: z.number(),
  gcPauseUs: z.number().optional(),
  involuntarySwitches: z.number().optional(),
  sendLagMaxUs: z.number(),
  /** Most descriptors that its process had open. */
  descriptorsMax: z.number().optional(),
});
export type SelfMeasurement = z.infer<typeof selfMeasurementSchema>;

export const shardReportSchema = z.object({
  shardIndex: z.int(),
  attempt: z.int(),
  agentId: agentIdSchema,
  connections: z.int(),
  requests: z.number().optional(),
  /** Absent when the shard's agent was lost before it could say. */
  counters: countersSchema.optional(),
  /** Achieved start, or end of the sending, minus the common instant. */
  startSkewUs: z.number().optional(),
  stopSkewUs: z.number().optional(),
  busyShareMax: z.number().optional(),
  /** How its engine thread fared over the whole shard. */
  self: selfMeasurementSchema.optional(),
  transport: z.string().optional(),
  transportNote: z.string().optional(),
  /** The target's address belongs to the machine of its agent: they compete for its CPUs. */
  sharesMachine: z.boolean().optional(),
  fatal: fatalSchema.optional(),
});

export type ShardReport = z.infer<typeof shardReportSchema>;

/** What is known of an agent apart from what its shards did. */
export const agentFactsSchema = z.object({
  agentId: agentIdSchema,
  name: z.string(),
  version: z.string(),
  slots: z.int(),
  machine: machineSchema,
  labels: labelsSchema.optional(),
  ...slotStrengthFields,
  clockOffsetUs: z.number(),
  clockUncertaintyUs: z.number(),
  lost: z.boolean(),
});

export type AgentFacts = z.infer<typeof agentFactsSchema>;

export const agentReportSchema = agentFactsSchema.extend({
  /** Sums over its shards. */
  shards: z.int(),
  connections: z.int(),
  completed: z.number(),
  failed: z.number(),
  /** Requests that ended per second of its own load, and its part of all that ended, 0 … 1. */
  rateHz: z.number().optional(),
  share: z.number().optional(),
  /** Its part of the load as it was divided among the slots, 0 … 1. */
  plannedShare: z.number().optional(),
  p50Us: z.number().optional(),
  p99Us: z.number().optional(),
  /** Of the slot that was farthest off. */
  startSkewUs: z.number().optional(),
  stopSkewUs: z.number().optional(),
  /** Of its busiest engine thread over the whole shard, 0 … 1. */
  busyShare: z.number().optional(),
});

export type AgentReport = z.infer<typeof agentReportSchema>;

export const verdictSchema = z.object({
  /** inconclusive: the books do not balance, something is missing, or lost load leaves the result open. */
  outcome: z.enum(['pass', 'fail', 'aborted', 'inconclusive']),
  /** Which side was the limit, from evidence only. */
  limit: z.enum(['target', 'generator', 'network', 'plan', 'undecided']),
  /** One sentence for each reason, with its numbers. */
  reasons: z.array(z.string()),
  /** What to do about it. */
  advice: z.array(z.string()),
  /** Why the headline number must not be taken as it is; absent when it may. */
  warning: z.string().optional(),
});
export type Verdict = z.infer<typeof verdictSchema>;

export const reportSchema = z.object({
  format: z.literal('broadside-report'),
  reportVersion: z.literal(REPORT_VERSION),
  broadsideVersion: z.string(),
  run: z.object({
    id: runIdSchema,
    state: runStateSchema,
    /** Why it ended early. */
    reason: z.string().optional(),
    createdAt: z.string(),
    startedAt: z.string().optional(),
    endedAt: z.string(),
  }),
  plan: planSchema,
  /** First address of the target that was used, and the `Server` header of its first reply. */
  target: z.object({
    addresses: z.array(z.string()),
    /** How many of the addresses were used, counted from the first; absent: one. */
    addressesUsed: z.number().optional(),
    server: z.string().optional(),
    /** What was read of the first reply until its header was whole, one character for each byte, no cookies. */
    firstReply: z.string().optional(),
    /** As the first shard negotiated it; handshakes and their times are sums over all shards. */
    tls: tlsFactsSchema.optional(),
  }),
  /** Why connections failed, in words, where the failure's class does not say it; most frequent first. */
  failureReasons: z.array(failureReasonSchema).optional(),
  /** From the start instant, the probe's duration added, to the last event, in µs: what `ab` calls time taken. */
  timeTakenUs: z.number(),
  counters: countersSchema,
  /** Complete replies by status code. */
  statusCounts: z.record(z.string(), z.number()),
  /** Requests whose outcome is unknown because their agent was lost. */
  lostWithAgent: z.number(),
  /** Requests that a lost agent should have sent, and nobody sent in its place; absent: none. */
  notSentWithAgent: z.number().optional(),
  /** Attempts that ended before their load was done because their agent went; absent: none. */
  losses: z.array(lossSchema).optional(),
  /** Bytes of one request on the wire, of which body. */
  requestBytes: z.number(),
  requestBodyBytes: z.number(),
  /** Body length of the reference reply (the probe's, else absent). */
  referenceBytes: z.number().optional(),
  latency: z.object({
    total: latencySchema,
    processing: latencySchema,
    connect: latencySchema,
    /** The part of `connect` that the TLS handshake took; empty without TLS. */
    tls: latencySchema,
    wait: latencySchema,
    fresh: latencySchema,
    reused: latencySchema,
    /** From the planned time to the reply's end; equal to `total` in a closed load, where nothing is planned. */
    corrected: latencySchema,
    /** From the planned time to the real send; empty in a closed load. */
    sendLag: latencySchema,
  }),
  /** Complete replies that a connection had carried when it was closed, by who closed it. */
  requestsPerConnection: z.object({
    closedByUs: distributionSchema,
    closedAnnounced: distributionSchema,
    closedUnannounced: distributionSchema,
    closedIdle: distributionSchema,
  }),
  seconds: z.array(secondSchema),
  agents: z.array(agentReportSchema),
  /** Agents whose latency or rate stands out from the others'; absent: none. */
  outliers: z.array(outlierSchema).optional(),
  shards: z.array(shardReportSchema),
  /** The first fatal error of a shard, where one ended early. */
  fatal: fatalSchema.optional(),
  /** What the agents found doubtful before the load began: one sentence each, with the agent's name. */
  warnings: z.array(z.string()).optional(),
  ledger: z.object({ balanced: z.boolean(), problems: z.array(z.string()) }),
  verdict: verdictSchema,
});
export type Report = z.infer<typeof reportSchema>;
