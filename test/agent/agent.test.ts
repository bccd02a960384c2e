import { type Agent, type AgentOptions, startAgent } from '@broadside/agent';
import {
  BroadsideError,
  COUNTER,
  counterOf,
  decodeTotals,
  type Interval,
  ledgerProblems,
  newCounters,
  type Shard,
  shardQueueOf,
} from '@broadside/shared';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withFreePort } from '../support/free-port.js';
import { SilentTarget } from '../targets/silent-target.js';
import { WellBehavedTarget } from '../targets/well-behaved-target.js';
import { CoordinatorEnd, type CoordinatorEndOptions } from './coordinator-end.js';
import { HandQueue } from './hand-queue.js';
import { shardOf } from './shard-of.js';

const logger = pino({ level: 'silent' });

let target: WellBehavedTarget;
let targetPort: number;
const toClose: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  target = new WellBehavedTarget();
  targetPort = (await target.start()).port;
  toClose.push(() => target.stop());
});

afterEach(async () => {
  for (const close of toClose.splice(0).reverse()) await close();
});

async function openCoordinator(options: CoordinatorEndOptions = {}): Promise<CoordinatorEnd> {
  const coordinator = await CoordinatorEnd.open(options);
  toClose.push(() => coordinator.close());
  return coordinator;
}

interface Joined {
  readonly agent: Agent;
  readonly queue: HandQueue;
}

async function join(coordinator: CoordinatorEnd, options: Partial<AgentOptions> = {}): Promise<Joined> {
  const queue = new HandQueue();
  const agent = await startAgent({
    coordinatorUrl: coordinator.url,
    joinToken: 'secret',
    name: 'test agent',
    slots: 1,
    queue,
    logger,
    ...options,
  });
  toClose.push(() => agent.close());
  return { agent, queue };
}

/** The failure to start, which must be one clear line of ours. */
async function failureOf(options: Partial<AgentOptions>): Promise<BroadsideError> {
  const error: unknown = await startAgent({
    coordinatorUrl: 'http://127.0.0.1:1',
    joinToken: 'secret',
    slots: 1,
    logger,
    connectTimeoutMs: 500,
    ...options,
  }).then(
    async (agent) => {
      await agent.close();
      throw new Error('the agent started');
    },
    (failure: unknown) => failure,
  );
  if (!(error instanceof BroadsideError)) throw error;
  expect(error.message).not.toContain('\n');
  return error;
}

/** Says start as soon as the shard is ready, after `delayMs` of the coordinator's clock. */
async function startWhenReady(coordinator: CoordinatorEnd, shard: Shard, delayMs = 50): Promise<number> {
  await coordinator.first('ready', (ready) => ready.shard.runId === shard.runId);
  const startAtUs = coordinator.nowUs() + delayMs * 1_000;
  const { runId, shardIndex, attempt } = shard;
  coordinator.say({ kind: 'start', shard: { runId, shardIndex, attempt }, startAtUs });
  return startAtUs;
}

function attemptOf({ runId, shardIndex, attempt }: Shard): Pick<Shard, 'runId' | 'shardIndex' | 'attempt'> {
  return { runId, shardIndex, attempt };
}

function sumOf(intervals: readonly Interval[]): Float64Array {
  const sum = newCounters();
  for (const { counters } of intervals) {
    for (const [i, count] of counters.entries()) sum[i] = (sum[i] ?? 0) + count;
  }
  return sum;
}

function totalsOf(result: { readonly totals: string }): ReturnType<typeof decodeTotals> {
  return decodeTotals(Buffer.from(result.totals, 'base64'));
}

describe('an agent that joins', () => {
  it('greets with its facts, takes shards from its own queue, and leaves nothing behind when closed', async () => {
    const coordinator = await openCoordinator();
    const { agent, queue } = await join(coordinator, { slots: 2 });
    const [hello] = coordinator.all('hello');
    expect(hello).toMatchObject({ agentId: agent.id, name: 'test agent', slots: 2, attempts: [] });
    expect(hello?.machine.cpus).toBeGreaterThan(0);
    expect(queue.name).toBe(shardQueueOf(agent.id));
    await coordinator.first('heartbeat', ({ freeSlots }) => freeSlots === 2);
    await agent.close();
    expect(queue.isClosed).toBe(true);
    await expect(agent.ended).resolves.toEqual({});
  });

  it('measures how far the clock of the coordinator is from its own', async () => {
    const coordinator = await openCoordinator({ clockAheadUs: 7_000_000 });
    await join(coordinator);
    const { offsetUs, uncertaintyUs } = await coordinator.first('clock-offset');
    expect(coordinator.all('clock-probe').length).toBeGreaterThanOrEqual(8);
    expect(Math.abs(offsetUs - 7_000_000)).toBeLessThanOrEqual(uncertaintyUs + 1_000);
  });

  it('says in one line what to do when the token is wrong, at once', async () => {
    const coordinator = await openCoordinator();
    const error = await failureOf({
      coordinatorUrl: coordinator.url,
      joinToken: 'wrong',
      connectTimeoutMs: 60_000,
    });
    expect(error.code).toBe('unauthorized');
    expect(error.message).toContain('join token');
    expect(`${error.message} ${error.hint}`).not.toContain('wrong');
  });

  it('says so when the address is of something else', async () => {
    const { port } = target;
    const error = await failureOf({ coordinatorUrl: `http://127.0.0.1:${port}`, connectTimeoutMs: 60_000 });
    expect(error.code).toBe('notFound');
    expect(error.message).toContain('no Broadside agent socket');
  });

  it('gives up after the time it was given when nobody listens, or the name is unknown', async () => {
    await withFreePort(async (port) => {
      const refused = await failureOf({ coordinatorUrl: `http://127.0.0.1:${port}` });
      expect(refused.message).toContain(`127.0.0.1:${port}: connection refused`);
    });
    const unknown = await failureOf({ coordinatorUrl: 'http://nowhere.invalid:7070' });
    expect(unknown.message).toContain('nowhere.invalid');
  });

  it('waits for a coordinator that is only just starting', async () => {
    const first = await CoordinatorEnd.open();
    const { port } = first;
    await first.close();
    const queue = new HandQueue();
    const starting = startAgent({
      coordinatorUrl: `http://127.0.0.1:${port}`,
      joinToken: 'secret',
      slots: 1,
      queue,
      logger,
    });
    const coordinator = await openCoordinator({ port });
    const agent = await starting;
    toClose.push(() => agent.close());
    expect(coordinator.all('hello')).toHaveLength(1);
  });

  it('ends with the coordinator’s sentence when it is rejected, and when protocols differ', async () => {
    const rejecting = await openCoordinator({
      onHello: () => ({ kind: 'rejected', reason: 'update the agent' }),
    });
    expect((await failureOf({ coordinatorUrl: rejecting.url })).message).toContain('update the agent');
    const newer = await openCoordinator({
      onHello: () => ({
        kind: 'welcome',
        protocol: 99,
        version: '9.0.0',
        queue: { kind: 'embedded' },
        heartbeatMs: 100,
      }),
    });
    expect((await failureOf({ coordinatorUrl: newer.url })).message).toContain('protocol 99');
  });

  it('says how to start the coordinator when its queue is embedded in another process', async () => {
    const coordinator = await openCoordinator();
    const error = await failureOf({ coordinatorUrl: coordinator.url });
    expect(error.message).toBe(
      'this coordinator has an embedded queue; start it with --redis to join agents from other processes',
    );
  });

  it('refuses options that cannot be meant', async () => {
    expect((await failureOf({ coordinatorUrl: 'coordinator' })).message).toContain('http://');
    expect((await failureOf({ slots: 0 })).message).toContain('slots');
    expect((await failureOf({ joinToken: 'a\r\nb' })).message).toContain('token');
  });
});

describe('a shard on an agent', () => {
  it('goes from ready over the probe to a result that equals the sum of its acknowledged intervals', async () => {
    const coordinator = await openCoordinator({ clockAheadUs: -3_000_000 });
    const { queue } = await join(coordinator);
    await coordinator.first('clock-offset');
    const shard = shardOf(targetPort, { requests: 500, connections: 4 });
    const given = queue.give(shard);
    await coordinator.first('ready');
    coordinator.say({ kind: 'probe', shard: attemptOf(shard) });
    const { result: probe } = await coordinator.first('probed');
    expect(probe).toMatchObject({ ok: true, status: 200, bodyBytes: 100, server: 'well-behaved' });
    const startAtUs = await startWhenReady(coordinator, shard, 100);
    const result = await given;
    expect(coordinator.nowUs()).toBeGreaterThanOrEqual(startAtUs);
    const intervals = await coordinator.allIntervalsOf(shard);
    const totals = totalsOf(result);
    expect(counterOf(totals.counters, 'completed')).toBe(500);
    expect(sumOf(intervals)).toEqual(totals.counters);
    expect(ledgerProblems(totals.counters, { isFinal: true, requests: 500 })).toEqual([]);
    expect(result).toMatchObject({ runId: 'run-1', addresses: ['127.0.0.1'], server: 'well-behaved' });
    expect(result.fatal).toBeUndefined();
    expect(result.startSkewUs).toBeGreaterThanOrEqual(0);
    expect(target.counters.requestsSeen).toBe(500);
  });

  it('starts quickly and uses the same slot again', async () => {
    const coordinator = await openCoordinator();
    const { queue } = await join(coordinator);
    for (let round = 1; round <= 3; round++) {
      const shard = shardOf(targetPort, { runId: `round-${round}`, requests: 10 });
      const given = queue.give(shard);
      await startWhenReady(coordinator, shard);
      expect(counterOf(totalsOf(await given).counters, 'completed')).toBe(10);
    }
  });

  it('is refused, and its job fails, when the target has no address', async () => {
    const coordinator = await openCoordinator();
    const { queue } = await join(coordinator);
    const shard = shardOf(targetPort, {
      target: { scheme: 'http', host: 'nowhere.invalid', port: 80, path: '/' },
    });
    await expect(queue.give(shard)).rejects.toThrow(/nowhere\.invalid/);
    const { fatal } = await coordinator.first('refused');
    expect(fatal.message).toContain('nowhere.invalid');
    // The slot is free again.
    const next = shardOf(targetPort, { runId: 'next', requests: 1 });
    const given = queue.give(next);
    await startWhenReady(coordinator, next);
    await given;
  });

  it('fails its job with the reason when the job is not a valid shard', async () => {
    const coordinator = await openCoordinator();
    const { queue } = await join(coordinator);
    await expect(queue.give({ ...shardOf(targetPort), connections: 0 })).rejects.toThrow(/connections/);
    const { fatal } = await coordinator.first('refused');
    expect(fatal).toMatchObject({ code: 'INVALID_SHARD' });
    await expect(queue.give({ ...shardOf(targetPort), protocol: 99 })).rejects.toThrow(/protocol 99.*update/);
    await expect(queue.give('garbage')).rejects.toThrow(/not a valid shard/);
  });

  it('stops at once when told, and reports what was done', async () => {
    const coordinator = await openCoordinator();
    const { queue } = await join(coordinator);
    const silent = new SilentTarget('never-answers');
    const { port } = await silent.start();
    toClose.push(() => silent.stop());
    const shard = shardOf(port, { requests: 1_000, timeoutMs: 60_000 });
    const given = queue.give(shard);
    await startWhenReady(coordinator, shard);
    await coordinator.until(() => coordinator.intervalsOf(shard).length > 0, 'an interval');
    coordinator.say({ kind: 'stop', shard: attemptOf(shard), reason: 'enough' });
    const { counters } = totalsOf(await given);
    expect(ledgerProblems(counters, { isFinal: true, requests: 1_000 })).toEqual([]);
    expect(counters[COUNTER.inFlightAtEnd]).toBe(2);
    expect(counters[COUNTER.notSentStopped]).toBe(998);
    expect(sumOf(await coordinator.allIntervalsOf(shard))).toEqual(counters);
  });

  it('that was stopped or fenced before its job was claimed does not begin', async () => {
    const coordinator = await openCoordinator();
    const { queue } = await join(coordinator);
    const stopped = shardOf(targetPort, { runId: 'stopped' });
    coordinator.say({ kind: 'stop', shard: attemptOf(stopped), reason: 'user stopped it' });
    const fenced = shardOf(targetPort, { runId: 'fenced' });
    coordinator.say({ kind: 'fenced', shard: attemptOf(fenced) });
    await coordinator.first('clock-offset');
    // The round trip after it shows that both orders have arrived.
    const seenProbes = coordinator.all('clock-probe').length;
    await coordinator.until(() => coordinator.all('clock-probe').length > seenProbes, 'another round trip');
    await expect(queue.give(stopped)).rejects.toThrow(/user stopped it/);
    await expect(queue.give(fenced)).rejects.toThrow(/fenced/);
  });

  it('that is fenced stops its load and sends no more intervals', async () => {
    const coordinator = await openCoordinator();
    const { queue } = await join(coordinator);
    coordinator.isAcknowledging = false;
    const shard = shardOf(targetPort, { requests: 1_000_000_000, timeoutMs: 1_000 });
    const given = queue.give(shard);
    await startWhenReady(coordinator, shard);
    await coordinator.until(() => coordinator.intervalsOf(shard).length > 0, 'an interval');
    coordinator.say({ kind: 'fenced', shard: attemptOf(shard) });
    await given;
    const requests = target.counters.requestsSeen;
    coordinator.breakConnections();
    const again = coordinator.all('hello').length;
    await coordinator.until(() => coordinator.all('hello').length > again, 'another greeting');
    expect(coordinator.all('hello').at(-1)?.attempts).toEqual([]);
    expect(coordinator.intervalsOf(shard).some(({ isLast }) => isLast)).toBe(false);
    expect(target.counters.requestsSeen).toBe(requests);
  });
});

describe('a broken connection', () => {
  it('costs no interval: the shard goes on and everything unacknowledged comes again', async () => {
    const coordinator = await openCoordinator();
    const { queue } = await join(coordinator);
    coordinator.isAcknowledging = false;
    const shard = shardOf(targetPort, { requests: undefined, durationMs: 2_500 });
    const given = queue.give(shard);
    await startWhenReady(coordinator, shard);
    await coordinator.until(() => coordinator.intervalsOf(shard).length > 0, 'an interval');
    coordinator.breakConnections();
    await coordinator.until(() => coordinator.all('hello').length === 2, 'another greeting');
    expect(coordinator.all('hello')[1]?.attempts).toEqual([attemptOf(shard)]);
    coordinator.isAcknowledging = true;
    const result = await given;
    const intervals = await coordinator.allIntervalsOf(shard);
    expect(sumOf(intervals)).toEqual(totalsOf(result).counters);
    expect(intervals.map(({ number }) => number)).toEqual(intervals.map((_, i) => i));
  });

  it('with a coordinator that was away loses nothing, and ready is said again', async () => {
    const first = await openCoordinator();
    const { queue } = await join(first);
    const shard = shardOf(targetPort, { requests: 50 });
    const given = queue.give(shard);
    await first.first('ready');
    const { port } = first;
    await first.close();
    const second = await openCoordinator({ port });
    await startWhenReady(second, shard);
    const result = await given;
    expect(sumOf(await second.allIntervalsOf(shard))).toEqual(totalsOf(result).counters);
  });

  it('is noticed when the coordinator only falls silent', async () => {
    const coordinator = await openCoordinator();
    await join(coordinator);
    await coordinator.first('clock-offset');
    coordinator.isAnswering = false;
    await coordinator.until(() => coordinator.all('hello').length === 2, 'another greeting', 30_000);
  });

  it('is what a coordinator gets that sends something else than the protocol', async () => {
    const coordinator = await openCoordinator();
    const { agent } = await join(coordinator);
    coordinator.sayRaw('{"kind":"start"}');
    await coordinator.until(() => coordinator.all('hello').length === 2, 'another greeting');
    coordinator.sayRaw(Buffer.alloc(400_000));
    await coordinator.until(() => coordinator.all('hello').length === 3, 'a third greeting');
    expect(agent.slots).toBe(1);
  });

  it('that ends in a rejection ends the agent with the reason', async () => {
    let isWelcome = true;
    const coordinator: CoordinatorEnd = await openCoordinator({
      onHello: () =>
        isWelcome
          ? { kind: 'welcome', protocol: 1, version: 'test', queue: { kind: 'embedded' }, heartbeatMs: 100 }
          : { kind: 'rejected', reason: 'this cluster is closed' },
    });
    const { agent } = await join(coordinator);
    isWelcome = false;
    coordinator.breakConnections();
    const { error } = await agent.ended;
    expect(error?.message).toContain('this cluster is closed');
  });
});

describe('an agent that drains', () => {
  it('says so, stops its load, and leaves when intervals and results are delivered', async () => {
    const coordinator = await openCoordinator();
    const { agent, queue } = await join(coordinator);
    const shard = shardOf(targetPort, { requests: 1_000_000_000 });
    const given = queue.give(shard);
    await startWhenReady(coordinator, shard);
    await coordinator.until(() => coordinator.intervalsOf(shard).length > 0, 'an interval');
    await agent.drain();
    expect(coordinator.all('draining')).toHaveLength(1);
    const { counters } = totalsOf(await given);
    expect(counterOf(counters, 'notSentStopped')).toBeGreaterThan(0);
    expect(sumOf(coordinator.intervalsOf(shard))).toEqual(counters);
    expect(queue.isClosed).toBe(true);
    await expect(queue.give(shardOf(targetPort, { runId: 'late' }))).rejects.toThrow(/leaving/);
  });

  it('leaves within its bound when the coordinator is gone, and sooner when it is closed meanwhile', async () => {
    const coordinator = await openCoordinator();
    const { agent, queue } = await join(coordinator);
    coordinator.isAcknowledging = false;
    const shard = shardOf(targetPort, { requests: 10 });
    const given = queue.give(shard);
    await startWhenReady(coordinator, shard);
    await given;
    await coordinator.close();
    const beganMs = performance.now();
    const draining = agent.drain();
    await agent.close();
    await draining;
    expect(performance.now() - beganMs).toBeLessThan(10_000);
  });
});
