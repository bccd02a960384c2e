/**
 * Carries the shards of a run to their agents, and their results back: one parent per run, one child per shard
 * in the queue of its agent. The queue decides nothing: one attempt each, and the parent becomes active when
 * all its children have ended in whatever way (docs/adr/0002).
 */
import {
  BroadsideError,
  holdsSecrets,
  RUN_QUEUE,
  type Shard,
  type ShardResult,
  shardAttemptKey,
  shardQueueOf,
  shardResultSchema,
} from '@broadside/shared';
import type { Logger } from 'pino';
import { answersInTime } from '../queue/answers-in-time.js';
import {
  type FlowSender,
  type QueueWiring,
  RUN_JOB_OPTIONS,
  SHARD_JOB_OPTIONS,
} from '../queue/bull-wiring.js';

/** How one shard ended: its result, or why there is none. */
export type ShardEnding =
  | { readonly kind: 'result'; readonly result: ShardResult }
  | { readonly kind: 'failed'; readonly reason: string };

/** Endings by the key of the attempt (`shardAttemptKey`). */
export type ShardEndings = ReadonlyMap<string, ShardEnding>;

export interface PlacedShard {
  readonly shard: Shard;
  readonly agentId: string;
}

/** The shards of one run in the queue. */
export interface EnqueuedRun {
  /** The run no longer waits for this shard, because its agent is lost. */
  release(key: string): Promise<void>;
  /** Takes the shard back; false when an agent has claimed it already. */
  withdraw(key: string): Promise<boolean>;
  /** Takes back what no agent has claimed, and lets go of the rest. */
  abandon(): Promise<void>;
}

type ChildNode = NonNullable<Awaited<ReturnType<FlowSender['add']>>['children']>[number];

/** A job with a key or a password in it goes with its end; its result is in its parent. */
const FORGET_ENDED = { removeOnComplete: true, removeOnFail: true } as const;

/** Runs that may end at the same moment. */
const RUN_CONCURRENCY = 50;

export class ShardQueue {
  readonly #wiring: QueueWiring;
  readonly #log: Logger;
  readonly #flows: FlowSender;

  constructor(wiring: QueueWiring, log: Logger) {
    this.#wiring = wiring;
    this.#log = log;
    this.#flows = wiring.createFlowProducer();
  }

  /**
   * Calls back once for each run whose shards have all ended. Not waited for until it listens: what ends
   * before that stays in the queue, and waiting takes a tenth of the whole start.
   */
  listen(onEnded: (runId: string, endings: ShardEndings) => void): void {
    this.#wiring.createConsumer<unknown, null>(
      RUN_QUEUE,
      async (parent) => {
        const [values, failures] = await Promise.all([
          parent.getChildrenValues<unknown>(),
          parent.getIgnoredChildrenFailures(),
        ]);
        onEnded(parent.id ?? '', endingsOf(values, failures));
        return null;
      },
      { concurrency: RUN_CONCURRENCY },
    );
  }

  async enqueue(runId: string, placed: readonly PlacedShard[]): Promise<EnqueuedRun> {
    const node = await this.#flows.add({
      name: 'run',
      queueName: RUN_QUEUE,
      data: { runId },
      opts: { ...RUN_JOB_OPTIONS, jobId: runId },
      children: placed.map(({ shard, agentId }) => ({
        name: 'shard',
        queueName: shardQueueOf(agentId),
        data: shard,
        opts: {
          ...SHARD_JOB_OPTIONS,
          ...(holdsSecrets(shard) ? FORGET_ENDED : {}),
          jobId: shardAttemptKey(shard),
        },
      })),
    });
    const children = new Map((node.children ?? []).map((child) => [child.job.id ?? '', child]));
    return {
      release: (key) => this.#release(children.get(key)),
      withdraw: (key) => this.#withdraw(children.get(key)),
      abandon: async () => {
        for (const child of children.values()) {
          await this.#release(child);
          await this.#withdraw(child);
        }
      },
    };
  }

  /** Forgets the queue of an agent that has gone for good. */
  async forgetAgent(agentId: string): Promise<void> {
    const queue = this.#wiring.createQueue(shardQueueOf(agentId));
    try {
      await queue.obliterate({ force: true });
    } catch (error) {
      this.#log.debug({ err: error }, `the queue of agent ${agentId} was not removed`);
    } finally {
      await queue.close();
    }
  }

  /**
   * Asked before a run is taken in, so that one that could not be handed out is refused.
   * @throws BroadsideError unavailable, while Redis is away. A queue in the store needs no question: storing tells.
   */
  async assertReachable(): Promise<void> {
    if (this.#wiring.kind === 'embedded' || (await answersInTime(this.isReachable()))) return;
    throw new BroadsideError('unavailable', 'the coordinator has lost the Redis of its queue', {
      hint: 'start Redis again, then fire the run again',
    });
  }

  /** True when the queue answers. */
  async isReachable(): Promise<boolean> {
    const queue = this.#wiring.createQueue(RUN_QUEUE);
    try {
      await queue.getJobCounts('active');
      return true;
    } catch (error) {
      this.#log.debug({ err: error }, 'the queue does not answer');
      return false;
    } finally {
      await queue.close();
    }
  }

  async #release(child: ChildNode | undefined): Promise<void> {
    if (child === undefined) return;
    try {
      await child.job.removeChildDependency();
    } catch (error) {
      // It has ended on its own in the meantime, which is as good.
      this.#log.debug({ err: error }, `shard ${child.job.id} was not released`);
    }
  }

  async #withdraw(child: ChildNode | undefined): Promise<boolean> {
    if (child === undefined) return false;
    try {
      await child.job.remove();
      return true;
    } catch (error) {
      // An agent holds it, and has been told to stop.
      this.#log.debug({ err: error }, `shard ${child.job.id} was not taken back`);
      return false;
    }
  }
}

/** Children are named `<…>:<queue>:<attempt key>`; a result that is none counts as a failure. */
function endingsOf(
  values: Readonly<Record<string, unknown>>,
  failures: Readonly<Record<string, string>>,
): ShardEndings {
  const endings = new Map<string, ShardEnding>();
  for (const [name, value] of Object.entries(values)) {
    const parsed = shardResultSchema.safeParse(value);
    endings.set(
      attemptKeyOf(name),
      parsed.success
        ? { kind: 'result', result: parsed.data }
        : { kind: 'failed', reason: 'its result is not a shard result' },
    );
  }
  for (const [name, reason] of Object.entries(failures)) {
    endings.set(attemptKeyOf(name), { kind: 'failed', reason });
  }
  return endings;
}

function attemptKeyOf(childName: string): string {
  return childName.slice(childName.lastIndexOf(':') + 1);
}
