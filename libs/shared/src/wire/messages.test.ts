import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { LIMITS } from '../limits.js';
import { observed, RUN_ID, sampleAgent } from '../testing/observed.js';
import { type AgentMessage, agentMessageSchema } from './agent-message.js';
import { type CoordinatorMessage, coordinatorMessageSchema } from './coordinator-message.js';
import { encodeTotals } from './frame.js';
import { isFinalState, type LiveMessage, liveMessageSchema, RUN_STATES } from './live-message.js';
import { PROTOCOL_VERSION } from './protocol-version.js';
import { shardQueueOf, shardResultSchema } from './shard-job.js';

const shard = { runId: RUN_ID, shardIndex: 0, attempt: 1 };
const fatal = { code: 'ENOTFOUND', message: 'name not found' };
const hello: AgentMessage = {
  kind: 'hello',
  protocol: PROTOCOL_VERSION,
  agentId: 'a1',
  name: 'load-1',
  version: '0.1.0',
  slots: 2,
  machine: sampleAgent('a1').machine,
  labels: { zone: 'eu' },
  attempts: [shard],
};

const AGENT: readonly AgentMessage[] = [
  hello,
  { kind: 'heartbeat', freeSlots: 0 },
  { kind: 'clock-probe', sentUs: 1.5 },
  { kind: 'clock-offset', offsetUs: -20, uncertaintyUs: 5 },
  { kind: 'ready', shard },
  { kind: 'refused', shard, fatal },
  { kind: 'probed', shard, result: { ok: true, bodyBytes: 5, status: 200, server: 'x' } },
  { kind: 'probed', shard, result: { ok: false, fatal } },
  { kind: 'abandoned', shard, sent: 12 },
  { kind: 'forged', count: 3, reason: 'the job is not signed' },
  { kind: 'draining' },
];

const COORDINATOR: readonly CoordinatorMessage[] = [
  {
    kind: 'welcome',
    protocol: PROTOCOL_VERSION,
    version: '0.1.0',
    queue: { kind: 'embedded' },
    heartbeatMs: 1_000,
  },
  {
    kind: 'welcome',
    protocol: PROTOCOL_VERSION,
    version: '0.1.0',
    queue: { kind: 'redis', url: 'redis://127.0.0.1:6379', prefix: 'b' },
    heartbeatMs: 1_000,
    targets: { allow: ['private', '*.test:80'], deny: ['10.0.0.1'] },
    shardKeys: ['AAAA'],
  },
  { kind: 'rejected', reason: 'update the agent' },
  { kind: 'clock-reply', sentUs: 1, coordinatorUs: 2 },
  { kind: 'probe', shard },
  { kind: 'start', shard, startAtUs: 1e15, referenceBytes: 0 },
  { kind: 'start', shard, startAtUs: 1e15 },
  { kind: 'start', shard, startAtUs: 1e15, fromUs: 1e15 + 1_000 },
  { kind: 'stop', shard, reason: 'stopped' },
  { kind: 'halt', reason: 'enough' },
  { kind: 'ack', shard, number: 0 },
  { kind: 'acks', acks: [{ shard, number: 0 }] },
  { kind: 'fenced', shard },
];

const LIVE: readonly LiveMessage[] = [
  { kind: 'state', runId: RUN_ID, state: 'running', shards: 1, agents: 1, startAtUs: 1 },
  { kind: 'state', runId: RUN_ID, state: 'queued', reason: 'waits for slots', position: 2 },
  {
    kind: 'second',
    runId: RUN_ID,
    second: {
      second: 0,
      planned: 1,
      sent: 1,
      completed: 1,
      failed: 0,
      inFlight: 0,
      openConnections: 1,
      bytesReceived: 9,
      busyShareMax: 0.1,
    },
    total: { planned: 1, completed: 1, failed: 0 },
  },
];

/** The messages of one direction, as far as these tests look into them. */
interface Family {
  readonly name: string;
  readonly schema: z.ZodType;
  /** What the schema knows. */
  readonly kinds: readonly string[];
  readonly messages: readonly { readonly kind: string }[];
}
const kindsOf = (options: readonly { shape: { kind: { value: string } } }[]): string[] =>
  options.map((option) => option.shape.kind.value);
const FAMILIES: readonly Family[] = [
  {
    name: 'agent',
    schema: agentMessageSchema,
    kinds: kindsOf(agentMessageSchema.options),
    messages: AGENT,
  },
  {
    name: 'coordinator',
    schema: coordinatorMessageSchema,
    kinds: kindsOf(coordinatorMessageSchema.options),
    messages: COORDINATOR,
  },
  { name: 'live', schema: liveMessageSchema, kinds: kindsOf(liveMessageSchema.options), messages: LIVE },
];

describe.each(FAMILIES)('$name messages', ({ schema, kinds, messages }) => {
  it.each(messages)('of kind $kind arrive as they were sent', (message) => {
    expect(schema.parse(JSON.parse(JSON.stringify(message)))).toEqual(message);
  });

  it('of every kind have an example here', () => {
    expect(new Set(messages.map(({ kind }) => kind))).toEqual(new Set(kinds));
  });

  it.each([null, undefined, 5, 'hello', [], {}, { kind: 'no-such' }, { kind: 5 }, { kind: '__proto__' }])(
    'are not %j',
    (value) => {
      expect(schema.safeParse(value).success).toBe(false);
    },
  );

  it.each(messages)('of kind $kind are refused when a field is of another type', (message) => {
    for (const field of Object.keys(message)) {
      const broken: Record<string, unknown> = { ...message, [field]: { nested: [1] } };
      expect(schema.safeParse(broken).success, field).toBe(false);
    }
  });
});

describe('hello', () => {
  it.each([
    { agentId: 'a b' },
    { agentId: '../x' },
    { agentId: '' },
    { name: '' },
    { name: 'x'.repeat(256) },
    { slots: 0 },
    { slots: 1_025 },
    { slots: 1.5 },
    { attempts: [{ ...shard, attempt: 0 }] },
    { attempts: [{ ...shard, shardIndex: LIMITS.maxShards }] },
    { attempts: Array.from({ length: 1_025 }, () => shard) },
    { machine: { ...sampleAgent('a1').machine, cpus: 0 } },
  ])('is refused with %j', (change) => {
    expect(agentMessageSchema.safeParse({ ...hello, ...change }).success).toBe(false);
  });

  it('with as many attempts as are allowed fits into a message', () => {
    const attempts = Array.from({ length: 1_024 }, () => ({
      ...shard,
      runId: 'r'.repeat(64),
      shardIndex: 9_999,
    }));
    const message = { ...hello, attempts };
    expect(agentMessageSchema.safeParse(message).success).toBe(true);
    expect(JSON.stringify(message).length).toBeLessThan(LIMITS.maxMessageBytes);
  });
});

describe('shard result', () => {
  it('carries the totals frame as base64', () => {
    const frame = encodeTotals({ ...shard, intervals: 1, ...observed({}) });
    const result = {
      ...shard,
      totals: btoa(String.fromCharCode(...frame)),
      addresses: ['127.0.0.1'],
      startSkewUs: 3,
      transport: 'socket',
    };
    expect(shardResultSchema.parse(result)).toEqual(result);
    expect(shardResultSchema.safeParse({ ...result, totals: 'not base64!' }).success).toBe(false);
  });

  it('travels in a queue of its agent', () => {
    expect(shardQueueOf('a1')).toBe('broadside-shards-a1');
  });
});

describe('run states', () => {
  it('end in three final ones', () => {
    expect(RUN_STATES.filter(isFinalState)).toEqual(['finished', 'aborted', 'failed']);
  });
});
