/** What the tests of an agent share: a target, a coordinator's end, an agent with a queue in the test's hand. */

import { type Agent, type AgentOptions, startAgent } from '@broadside/agent';
import { decodeTotals, type Interval, newCounters, type Shard } from '@broadside/shared';
import { pino } from 'pino';
import { WellBehavedTarget } from '../targets/well-behaved-target.js';
import { CoordinatorEnd, type CoordinatorEndOptions } from './coordinator-end.js';
import { HandQueue } from './hand-queue.js';

export const silentLogger = pino({ level: 'silent' });

export interface Joined {
  readonly agent: Agent;
  readonly queue: HandQueue;
}

/** Opens things for one test and closes them, last first, in `close`. */
export class AgentBench {
  readonly target = new WellBehavedTarget();
  targetPort = 0;
  readonly #toClose: (() => Promise<unknown>)[] = [];

  async open(): Promise<void> {
    this.targetPort = (await this.target.start()).port;
    this.later(() => this.target.stop());
  }

  /** Closes this too, before what was opened earlier. */
  later(close: () => Promise<unknown>): void {
    this.#toClose.push(close);
  }

  async close(): Promise<void> {
    for (const close of this.#toClose.splice(0).reverse()) await close();
  }

  async openCoordinator(options: CoordinatorEndOptions = {}): Promise<CoordinatorEnd> {
    const coordinator = await CoordinatorEnd.open(options);
    this.later(() => coordinator.close());
    return coordinator;
  }

  async join(coordinator: CoordinatorEnd, options: Partial<AgentOptions> = {}): Promise<Joined> {
    const queue = new HandQueue();
    const agent = await startAgent({
      coordinatorUrl: coordinator.url,
      joinToken: 'secret',
      name: 'test agent',
      slots: 1,
      queue,
      logger: silentLogger,
      ...options,
    });
    this.later(() => agent.close());
    queue.signWith((shard) => coordinator.signer.sign(shard, agent.id));
    return { agent, queue };
  }
}

/** Says start as soon as the shard is ready, after `delayMs` of the coordinator's clock. */
export async function startWhenReady(
  coordinator: CoordinatorEnd,
  shard: Shard,
  delayMs = 50,
): Promise<number> {
  await coordinator.first('ready', (ready) => ready.shard.runId === shard.runId);
  const startAtUs = coordinator.nowUs() + delayMs * 1_000;
  coordinator.say({ kind: 'start', shard: attemptOf(shard), startAtUs });
  return startAtUs;
}

export function attemptOf({
  runId,
  shardIndex,
  attempt,
}: Shard): Pick<Shard, 'runId' | 'shardIndex' | 'attempt'> {
  return { runId, shardIndex, attempt };
}

export function sumOf(intervals: readonly Interval[]): Float64Array {
  const sum = newCounters();
  for (const { counters } of intervals) {
    for (const [i, count] of counters.entries()) sum[i] = (sum[i] ?? 0) + count;
  }
  return sum;
}

export function totalsOf(result: { readonly totals: string }): ReturnType<typeof decodeTotals> {
  return decodeTotals(Buffer.from(result.totals, 'base64'));
}
