import type { EnqueuedGroup, ShardEnding, ShardEndings } from '../shard/shard-queue.js';
import { NamedTimers } from './named-timers.js';
import type { RunServices } from './run-services.js';
import type { ShardProgress } from './shard-progress.js';

/** A queue that is away must not hold up what is to be done about a loss. */
const LOOK_UP_MS = 500;
/** A queue that is away holds up neither the end of a run, whose slots are free then, nor that of the coordinator. */
const ABANDON_MS = 5_000;
/** Until a queue that did not answer is asked again. */
const RETRY_MS = 1_000;

/** The groups of one run in the queue: the first attempts together, each later attempt by itself. */
export class RunGroups {
  readonly #runId: string;
  readonly #queue: RunServices['queue'];
  readonly #groups = new Map<number, EnqueuedGroup>();
  /** Groups of which the queue has said how they ended. */
  readonly #told = new Set<number>();
  /** What the queue is being asked about each group, and what it will be asked next. */
  readonly #answer = new Map<number, Promise<ShardEndings>>();
  readonly #nextAnswer = new Map<number, Promise<ShardEndings>>();
  readonly #timers: NamedTimers;
  #isOver = false;

  constructor(runId: string, { queue, timers }: Pick<RunServices, 'queue' | 'timers'>) {
    this.#runId = runId;
    this.#queue = queue;
    this.#timers = new NamedTimers(timers);
  }

  /** @param shards of one group. */
  async enqueue(shards: readonly ShardProgress[]): Promise<void> {
    const group = shards[0]?.group ?? 0;
    this.#groups.set(group, await this.#queue.enqueue({ runId: this.#runId, group }, shards));
  }

  /** Takes up a group that an earlier coordinator had handed over. */
  reopen(group: number, shards: readonly ShardProgress[]): void {
    this.#groups.set(group, this.#queue.reopen(shards));
  }

  /** How the shard ended, where the queue knows it already and says so in time. */
  async endingOf({ group, key }: ShardProgress): Promise<ShardEnding | undefined> {
    const name = `look up ${key}`;
    const isLate = new Promise<undefined>((resolve) => {
      this.#timers.arm(name, LOOK_UP_MS, () => resolve(undefined));
    });
    const endings = await Promise.race([this.#endingsSoFar(group), isLate]);
    this.#timers.disarm(name);
    return endings?.get(key);
  }

  /**
   * Thousands of agents may be lost at once, and each answer is as long as the group: one question is under way, and
   * whoever comes meanwhile shares the next.
   */
  #endingsSoFar(group: number): Promise<ShardEndings> {
    const next = this.#nextAnswer.get(group);
    if (next !== undefined) return next;
    const underWay = this.#answer.get(group) ?? Promise.resolve();
    const asked = underWay.then(() => {
      this.#nextAnswer.delete(group);
      return this.#queue.endingsSoFar({ runId: this.#runId, group });
    });
    this.#nextAnswer.set(group, asked);
    this.#answer.set(group, asked);
    void asked.then(() => {
      if (this.#answer.get(group) === asked) this.#answer.delete(group);
    });
    return asked;
  }

  has({ group }: ShardProgress): boolean {
    return this.#groups.has(group);
  }

  /** Whether the queue knows all groups whose ends it is still to tell; true where it does not answer. */
  async areThere(): Promise<boolean> {
    const open = [...this.#groups.keys()].filter((group) => !this.#told.has(group));
    const asked = open.map((group) => this.#queue.isKnown({ runId: this.#runId, group }).catch(() => true));
    return (await Promise.all(asked)).every(Boolean);
  }

  /** @returns false when that was told before. */
  tell(group: number): boolean {
    if (this.#told.has(group)) return false;
    this.#told.add(group);
    return true;
  }

  /**
   * The group no longer waits for this shard: tried again until the queue has taken it, because the group would
   * wait for ever otherwise.
   */
  async release(progress: ShardProgress): Promise<void> {
    const { group, key } = progress;
    if (this.#told.has(group) || this.#isOver) return;
    if ((await this.#groups.get(group)?.release(key)) !== false) return;
    this.#timers.arm(`release ${key}`, RETRY_MS, () => void this.release(progress));
  }

  /** Takes the shard back; false when an agent has claimed it already. */
  async withdraw({ group, key }: ShardProgress): Promise<boolean> {
    return (await this.#groups.get(group)?.withdraw(key)) ?? false;
  }

  /** Lets go of every group that has not ended. Where the queue does not answer, that goes on by itself. */
  async abandon(): Promise<void> {
    this.#isOver = true;
    this.#timers.disarmAll();
    const open = [...this.#groups].filter(([group]) => !this.#told.has(group));
    const isLate = new Promise<void>((resolve) => {
      this.#timers.arm('abandon', ABANDON_MS, resolve);
    });
    await Promise.race([Promise.all(open.map(([, enqueued]) => enqueued.abandon())), isLate]);
    this.#timers.disarm('abandon');
  }
}
