import { EventEmitter, once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { type AgentOptions, startAgent } from '@broadside/agent';
import { BroadsideError, shardQueueOf } from '@broadside/shared';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withFreePort } from '../support/free-port.js';
import { AgentBench, silentLogger } from './agent-bench.js';
import { HandQueue } from './hand-queue.js';

let bench: AgentBench;
beforeEach(async () => {
  bench = new AgentBench();
  await bench.open();
});
afterEach(() => bench.close());

/** The failure to start, which must be one clear line of ours. */
async function failureOf(options: Partial<AgentOptions>): Promise<BroadsideError> {
  const error: unknown = await startAgent({
    coordinatorUrl: 'http://127.0.0.1:1',
    joinToken: 'secret',
    slots: 1,
    logger: silentLogger,
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

describe('an agent that joins', () => {
  it('greets with its facts, takes shards from its own queue, and leaves nothing behind when closed', async () => {
    const coordinator = await bench.openCoordinator();
    const { agent, queue } = await bench.join(coordinator, { slots: 2 });
    const [hello] = coordinator.all('hello');
    expect(hello).toMatchObject({ agentId: agent.id, name: 'test agent', slots: 2, attempts: [] });
    expect(hello?.machine.cpus).toBeGreaterThan(0);
    expect(queue.name).toBe(shardQueueOf(agent.id));
    await coordinator.first('heartbeat', ({ freeSlots }) => freeSlots === 2);
    await agent.close();
    expect(queue.isClosed).toBe(true);
    await expect(agent.closed).resolves.toEqual({ undelivered: 0 });
  });

  it('measures what a slot can do before it joins, once for a machine', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'broadside-capacity-'));
    bench.later(() => rm(folder, { recursive: true }));
    const capacityFile = join(folder, 'capacity.json');
    const coordinator = await bench.openCoordinator();
    const measured = (): number | undefined => coordinator.all('hello').at(-1)?.capacityHz;
    // A machine that is too busy to be measured in time is measured by the next one.
    while (measured() === undefined) await (await bench.join(coordinator, { capacityFile })).agent.close();
    const first = measured();
    expect(first).toBeGreaterThan(100);
    await bench.join(coordinator, { capacityFile });
    expect(measured()).toBe(first);
    await bench.join(coordinator, { capacityFile, weight: 2 });
    const byHand = coordinator.all('hello').at(-1);
    expect(byHand).toMatchObject({ weight: 2 });
    expect(byHand).not.toHaveProperty('capacityHz');
  });

  it('joins all the same where what was measured cannot be kept', async () => {
    const coordinator = await bench.openCoordinator();
    await bench.join(coordinator, { capacityFile: '/dev/null/capacity.json' });
    expect(coordinator.all('hello')).toHaveLength(1);
  });

  it('measures how far the clock of the coordinator is from its own', async () => {
    const coordinator = await bench.openCoordinator({ clockAheadUs: 7_000_000 });
    await bench.join(coordinator);
    const { offsetUs, uncertaintyUs } = await coordinator.first('clock-offset');
    expect(coordinator.all('clock-probe').length).toBeGreaterThanOrEqual(8);
    expect(Math.abs(offsetUs - 7_000_000)).toBeLessThanOrEqual(uncertaintyUs + 1_000);
  });

  it('says in one line what to do when the token is wrong, at once', async () => {
    const coordinator = await bench.openCoordinator();
    const error = await failureOf({
      coordinatorUrl: coordinator.url,
      joinToken: 'wrong',
      connectTimeoutMs: 60_000,
    });
    expect(error.code).toBe('unauthorized');
    expect(error.message).toContain('join token');
    expect(`${error.message} ${error.hint}`).not.toContain('wrong');
  });

  it('that is refused later says so at once, and tries it no more for a while', async () => {
    const coordinator = await bench.openCoordinator();
    const log = new EventEmitter();
    const write = (chunk: Buffer, _encoding: string, done: () => void): void => {
      if (chunk.toString('utf8').includes('refused the join token')) log.emit('refused');
      done();
    };
    await bench.join(coordinator, { logger: pino({ level: 'warn' }, new Writable({ write })) });
    const refused = once(log, 'refused');
    coordinator.refusal = '401 Unauthorized';
    coordinator.breakConnections();
    await refused;
    expect(coordinator.refusedCount).toBe(1);
  }, 8_000);

  it('says so when the address is of something else', async () => {
    const error = await failureOf({
      coordinatorUrl: `http://127.0.0.1:${bench.targetPort}`,
      connectTimeoutMs: 60_000,
    });
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
    const first = await bench.openCoordinator();
    const { port } = first;
    await first.close();
    const queue = new HandQueue();
    const starting = startAgent({
      coordinatorUrl: `http://127.0.0.1:${port}`,
      joinToken: 'secret',
      slots: 1,
      queue,
      logger: silentLogger,
    });
    const coordinator = await bench.openCoordinator({ port });
    const agent = await starting;
    bench.later(() => agent.close());
    expect(coordinator.all('hello')).toHaveLength(1);
  });

  it('ends with the coordinator’s sentence when it is rejected, and when protocols differ', async () => {
    const rejecting = await bench.openCoordinator({
      onHello: () => ({ kind: 'rejected', reason: 'update the agent' }),
    });
    expect((await failureOf({ coordinatorUrl: rejecting.url })).message).toContain('update the agent');
    const newer = await bench.openCoordinator({
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
    const coordinator = await bench.openCoordinator();
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
