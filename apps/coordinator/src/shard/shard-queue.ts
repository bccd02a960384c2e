/**
 * Carries the shards of a run to their agents, and their results back: one parent per run, one child per shard
 * in the queue of its agent. The queue decides nothing: one attempt each, and the parent becomes active when
 * all its children have ended in whatever way (docs/adr/0002).
 */
import {
  BroadsideError,
  holdsSecrets,
  RUN_QUEUE,
  runJobSchema,
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
  type JobQueue,
  type QueueWiring,
  RUN_JOB_OPTIONS,
  SHARD_JOB_OPTIONS,
} from '../queue/bull-wiring.js';
import type { ShardSigner } from '../safety/shard-signer.js';

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

/** Names shards that were handed to the queue together: 0 for the first attempts of a run. */
export interface GroupName {
  readonly runId: string;
  readonly group: number;
}

/** The shards of one group in the queue. */
export interface EnqueuedGroup {
  /** The group no longer waits for this shard, because its agent is lost; false when the queue did not take it. */
  release(key: string): Promise<boolean>;
  /** Takes the shard back; false when an agent has claimed it already. */
  withdraw(key: string): Promise<boolean>;
  /** Takes back what no agent has claimed, and lets go of the rest. */
  abandon(): Promise<void>;
}

type ShardJob = NonNullable<Awaited<ReturnType<FlowSender['add']>>['children']>[number]['job'];
type FindJob = (key: string) => Promise<ShardJob | undefined>;

/** A job with a key or a password in it goes with its end; its result is in its parent. */
const FORGET_ENDED = { removeOnComplete: true, removeOnFail: true } as const;

/** What is in the queue's Redis is not only ours: a reason must not fill a report. */
const MAX_REASON_LENGTH = 1_000;

/** Looked up only to see that the queue answers; no run has this id. */
const NO_RUN = 'none';

/** Runs that may end at the same moment. */
const RUN_CONCURRENCY = 50;

export class ShardQueue {
  readonly #wiring: QueueWiring;
  readonly #log: Logger;
  readonly #signer: Pick<ShardSigner, 'sign'>;
  readonly #flows: FlowSender;

  constructor(wiring: QueueWiring, signer: Pick<ShardSigner, 'sign'>, log: Logger) {
    this.#signer = signer;
    this.#wiring = wiring;
    this.#log = log;
    this.#flows = wiring.createFlowProducer();
  }

  /**
   * Calls back once for each group whose shards have all ended. Not waited for until it listens: what ends
   * before that stays in the queue, and waiting takes a tenth of the whole start.
   */
  listen(onEnded: (name: GroupName, endings: ShardEndings) => void): void {
    this.#wiring.createConsumer<unknown, null>(
      RUN_QUEUE,
      async (parent) => {
        const name = runJobSchema.safeParse(parent.data);
        if (name.success) onEnded(name.data, await endingsIn(parent));
        else this.#log.warn(`job ${parent.id} in the queue of runs is none of ours`);
        return null;
      },
      { concurrency: RUN_CONCURRENCY },
    );
  }

  async enqueue(name: GroupName, placed: readonly PlacedShard[]): Promise<EnqueuedGroup> {
    const node = await this.#flows.add({
      name: 'run',
      queueName: RUN_QUEUE,
      data: name,
      opts: { ...RUN_JOB_OPTIONS, jobId: parentIdOf(name) },
      children: placed.map(({ shard, agentId }) => ({
        name: 'shard',
        queueName: shardQueueOf(agentId),
        data: this.#signer.sign(shard, agentId),
        opts: {
          ...SHARD_JOB_OPTIONS,
          ...(holdsSecrets(shard) ? FORGET_ENDED : {}),
          jobId: shardAttemptKey(shard),
        },
      })),
    });
    const jobs = new Map((node.children ?? []).map(({ job }) => [job.id ?? '', job]));
    return this.#groupOf([...jobs.keys()], (key) => Promise.resolve(jobs.get(key)));
  }

  /** A group that an earlier coordinator handed to the queue. */
  reopen(placed: readonly PlacedShard[]): EnqueuedGroup {
    const agents = new Map(placed.map(({ shard, agentId }) => [shardAttemptKey(shard), agentId]));
    return this.#groupOf([...agents.keys()], async (key) => {
      const agentId = agents.get(key);
      if (agentId === undefined) return undefined;
      return this.#inQueue(shardQueueOf(agentId), (queue) => queue.getJob(key));
    });
  }

  /** Whether the group was ever handed over, and is not forgotten. */
  async isKnown(name: GroupName): Promise<boolean> {
    const parent = await this.#inQueue(RUN_QUEUE, (queue) => queue.getJob(parentIdOf(name)));
    return parent !== undefined;
  }

  /**
   * How the shards of a group ended, where an earlier coordinator was told so already; undefined where this one
   * will be told, or where nothing is known of the group.
   */
  async endingsTold(name: GroupName): Promise<ShardEndings | undefined> {
    return this.#inQueue(RUN_QUEUE, async (queue) => {
      const parent = await queue.getJob(parentIdOf(name));
      const state = await parent?.getState();
      const wasTold = state === 'active' || state === 'completed' || state === 'failed';
      return parent !== undefined && wasTold ? endingsIn(parent) : undefined;
    });
  }

  /** How those shards of a group ended that have ended so far; empty where the queue does not say. Never rejects. */
  async endingsSoFar(name: GroupName): Promise<ShardEndings> {
    try {
      return await this.#inQueue(RUN_QUEUE, async (queue) => {
        const parent = await queue.getJob(parentIdOf(name));
        return parent === undefined ? new Map() : endingsIn(parent);
      });
    } catch (error) {
      this.#log.debug({ err: error, run: name.runId }, 'the queue does not say how shards have ended');
      return new Map();
    }
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

  /** True when the queue answers through what hands runs over: another object may work where that one does not. */
  async isReachable(): Promise<boolean> {
    try {
      await this.#flows.getFlow({ queueName: RUN_QUEUE, id: NO_RUN });
      return true;
    } catch (error) {
      this.#log.debug({ err: error }, 'the queue does not answer');
      return false;
    }
  }

  #groupOf(keys: readonly string[], find: FindJob): EnqueuedGroup {
    const release = (key: string): Promise<boolean> => this.#release(key, find);
    const withdraw = (key: string): Promise<boolean> => this.#withdraw(key, find);
    return {
      release,
      withdraw,
      abandon: async () => {
        const abandonOne = async (key: string): Promise<void> => {
          await release(key);
          await withdraw(key);
        };
        await Promise.all(keys.map(abandonOne));
      },
    };
  }

  async #inQueue<T>(name: string, ask: (queue: JobQueue) => Promise<T>): Promise<T> {
    const queue = this.#wiring.createQueue(name);
    try {
      return await ask(queue);
    } finally {
      await queue.close();
    }
  }

  async #release(key: string, find: FindJob): Promise<boolean> {
    try {
      await (await find(key))?.removeChildDependency();
      return true;
    } catch (error) {
      // Either it has ended on its own in the meantime, or the queue is away.
      this.#log.debug({ err: error }, `shard ${key} was not released`);
      return false;
    }
  }

  async #withdraw(key: string, find: FindJob): Promise<boolean> {
    try {
      const job = await find(key);
      await job?.remove();
      return job !== undefined;
    } catch (error) {
      // An agent holds it, and has been told to stop.
      this.#log.debug({ err: error }, `shard ${key} was not taken back`);
      return false;
    }
  }
}

/** The parent of a group; no run id has a dot. */
function parentIdOf({ runId, group }: GroupName): string {
  return group === 0 ? runId : `${runId}.${group}`;
}

interface ParentJob {
  getChildrenValues<T>(): Promise<Record<string, T>>;
  getIgnoredChildrenFailures(): Promise<Record<string, string>>;
}

async function endingsIn(parent: ParentJob): Promise<ShardEndings> {
  const [values, failures] = await Promise.all([
    parent.getChildrenValues<unknown>(),
    parent.getIgnoredChildrenFailures(),
  ]);
  return endingsOf(values, failures);
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
    endings.set(attemptKeyOf(name), { kind: 'failed', reason: reason.slice(0, MAX_REASON_LENGTH) });
  }
  return endings;
}

function attemptKeyOf(childName: string): string {
  return childName.slice(childName.lastIndexOf(':') + 1);
}
