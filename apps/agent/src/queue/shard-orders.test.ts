import { generateKeyPairSync, sign } from 'node:crypto';
import { PROTOCOL_VERSION, planSchema, type Shard, splitPlan } from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import { ShardOrders } from './shard-orders.js';

const NOW_US = 1_000_000_000;
const keys = generateKeyPairSync('ed25519');
const others = generateKeyPairSync('ed25519');
const publicText = (pair: typeof keys): string =>
  pair.publicKey.export({ format: 'der', type: 'spki' }).toString('base64');

function shardOf(runId: string): Shard {
  const [shard] = splitPlan(planSchema.parse({ target: 'http://127.0.0.1/', requests: 10 }), runId, 1);
  if (shard === undefined) throw new Error('a plan has at least one shard');
  return shard;
}

function jobOf(order: unknown, pair = keys) {
  const text = JSON.stringify(order);
  const signature = sign(null, Buffer.from(text), pair.privateKey).toString('base64');
  return { protocol: PROTOCOL_VERSION, order: text, signature };
}

function ordersAt(coordinatorUs: () => number | undefined = () => NOW_US): ShardOrders {
  const orders = new ShardOrders({ agentId: 'me', coordinatorUs });
  orders.trust([publicText(keys)]);
  return orders;
}

const good = (runId = 'r') => ({ agentId: 'me', expiresAtUs: NOW_US + 1, shard: shardOf(runId) });

describe('a shard job', () => {
  it('is taken when the coordinator signed it for this agent', () => {
    expect(ordersAt().open(jobOf(good()))).toMatchObject({ kind: 'shard', shard: { runId: 'r' } });
    expect(ordersAt(() => undefined).open(jobOf(good()))).toMatchObject({ kind: 'shard' });
  });

  it.each<[string, unknown, string]>([
    ['a bare shard', shardOf('r'), 'is not signed'],
    ['nothing', undefined, 'is not signed'],
    ['one without a signature', { ...jobOf(good()), signature: '' }, 'does not have the signature'],
    ['one signed by somebody else', jobOf(good(), others), 'does not have the signature'],
    ['one for another agent', jobOf({ ...good(), agentId: 'you' }), 'signed for another agent'],
    ['one that has expired', jobOf({ ...good(), expiresAtUs: NOW_US - 1 }), 'has expired'],
    ['one of another version', { ...jobOf(good()), protocol: 99 }, 'written in protocol 99'],
  ])('is refused as forged: %s', (_title, job, reason) => {
    const opened = ordersAt().open(job);
    expect(opened.kind).toBe('forged');
    expect('reason' in opened && opened.reason).toContain(reason);
  });

  it('is refused whichever byte of it was changed', () => {
    const job = jobOf(good());
    for (let i = 0; i < job.order.length; i++) {
      const changed = job.order.charCodeAt(i) === 0x30 ? '1' : '0';
      const order = job.order.slice(0, i) + changed + job.order.slice(i + 1);
      expect(ordersAt().open({ ...job, order }).kind).toBe('forged');
    }
  });

  it('is taken once, as long as it could come again', () => {
    let nowUs = NOW_US;
    const orders = ordersAt(() => nowUs);
    const jobs = Array.from({ length: 50 }, (_, i) => jobOf(good(`r${i}`)));
    for (const job of jobs) expect(orders.open(job).kind).toBe('shard');
    for (const job of jobs) expect(orders.open(job)).toMatchObject({ reason: 'the job was taken before' });
    nowUs += 10_000_000_000;
    for (const job of jobs) expect(orders.open(job)).toMatchObject({ reason: 'the job has expired' });
  });

  it('is invalid and not forged when the coordinator signed what is no shard', () => {
    const { shard } = good();
    const opened = ordersAt().open(jobOf({ ...good(), shard: { ...shard, connections: 0 } }));
    expect(opened).toMatchObject({ kind: 'invalid', attempt: { runId: 'r', shardIndex: 0, attempt: 1 } });
  });

  it('is refused when no key is known, or only what is none', () => {
    const orders = ordersAt();
    orders.trust(['AAAA', '']);
    expect(orders.open(jobOf(good())).kind).toBe('forged');
    // A coordinator that replaces its key tells of both for a while.
    orders.trust([publicText(others), publicText(keys)]);
    expect(orders.open(jobOf(good())).kind).toBe('shard');
  });
});
