/**
 * Carries out what the rests decide: finds room for what lost attempts left behind, hands the new attempt to the
 * queue, and lets it begin when a slot holds it, however late that is (docs/adr/0002).
 */
import { type Labels, LIMITS, type Loss } from '@broadside/shared';
import { queueReason } from '../queue/queue-reason.js';
import { laterSlice, startInstantUs } from '../shard/start-barrier.js';
import type { NamedTimers } from './named-timers.js';
import { chooseTaker, type Taker } from './rest-taker.js';
import type { RunAgents } from './run-agents.js';
import type { RunBooks } from './run-books.js';
import type { RunGroups } from './run-groups.js';
import type { RunJournal } from './run-journal.js';
import type { RunOrders } from './run-orders.js';
import { endMsOf, RunRests } from './run-rests.js';
import type { RunServices } from './run-services.js';
import type { RunShards } from './run-shards.js';
import type { ShardProgress } from './shard-progress.js';

export interface ReissueParts {
  readonly services: Pick<RunServices, 'registry' | 'clock' | 'log' | 'canResume'>;
  readonly shards: RunShards;
  readonly runId: string;
  /** Labels that every agent of the run must have. */
  readonly on: Labels;
  readonly groups: RunGroups;
  readonly orders: RunOrders;
  readonly books: RunBooks;
  readonly agents: RunAgents;
  readonly journal: RunJournal;
  readonly timers: NamedTimers;
  /** The attempt has left its slot, or never was in one. */
  readonly isOffSlot: (progress: ShardProgress) => boolean;
  /** The attempt may be told to start. */
  readonly onBegun: (progress: ShardProgress) => void;
  /** Something changed that a restarted coordinator would have to know, or that may end the run. */
  readonly onChange: () => void;
}

/** An order that is given later than this before its instant is late. */
const LEAST_LEAD_MS = 50;
/** How often an instant that could not be stored in time is named again, each time with four times as much of it. */
const MAX_BEGIN_TRIES = 3;
/** How long a slot that was free may take to hold the shard. */
const READY_MS = 5_000;
/** The same after a restart, when its agent has to come back first. */
const RETURN_MS = 15_000;
/** Until a rest that could not be handed over is tried again. */
const RETRY_MS = 250;
/** The same, when it was the queue or the store that could not take it. */
const QUEUE_RETRY_MS = 1_000;

export class RunReissue {
  readonly rests = new RunRests();
  readonly #parts: ReissueParts;
  /** Attempts whose start is being stored. */
  readonly #beginning = new Set<ShardProgress>();
  /**
   * Whether queue and store took what they were given last. Where they did not, they are tried with one rest at a time:
   * every attempt that is handed out is kept to the end of the run.
   */
  #handingOut: 'works' | 'failed' | 'tried' = 'works';

  constructor(parts: ReissueParts) {
    this.#parts = parts;
  }

  /** Run time in ms; 0 before the start instant is named. */
  get nowMs(): number {
    const { orders, services } = this.#parts;
    const { startAtUs } = orders;
    return startAtUs === undefined ? 0 : (services.clock.epochUs() - startAtUs) / 1_000;
  }

  /** Takes up the losses that an earlier coordinator had booked, and who was to take them over. */
  restore(losses: readonly Loss[]): void {
    const { shards, timers } = this.#parts;
    for (const loss of losses) {
      const ofShard = shards.all.filter((each) => each.shard.shardIndex === loss.shardIndex);
      const from = ofShard.find((each) => each.shard.attempt === loss.attempt);
      const taker = ofShard.find(
        (each) => each.shard.attempt > loss.attempt && !each.hasBegun && !each.didNothing,
      );
      if (from === undefined) continue;
      this.rests.restore(loss, from, taker);
      if (taker === undefined || loss.rest !== 'waiting') continue;
      timers.arm(`ready ${taker.key}`, RETURN_MS, () => this.giveBack(taker, 'no slot took it in time'));
    }
  }

  /**
   * Books the loss of an attempt that had begun. The loss is reckoned from the intervals that have arrived, so it and
   * the attempt that takes over are stored after them: a restarted coordinator has nothing but what is stored.
   */
  lose(progress: ShardProgress, cause: Loss['cause'], given: { isWanted: boolean; returned?: number }): void {
    const { isWanted, returned = 0 } = given;
    const { services, journal, books, timers } = this.#parts;
    if (services.canResume) journal.storeAfter(books.settled());
    this.rests.lose(progress, { cause, noticedAtMs: this.nowMs, returnedRequests: returned, isWanted });
    // Thousands may be lost at once, and a look at everybody's room serves all of them.
    timers.armOnce('place', 0, () => this.useFreeSlots());
  }

  /**
   * The whole shard once more, for an attempt that was lost before the start.
   * @returns false when nobody has room for it.
   */
  replace(progress: ShardProgress): boolean {
    const taker = this.#taker();
    if (taker === undefined) return false;
    this.#handOut(this.rests.again(progress, taker));
    return true;
  }

  /** Gives what waits to slots that are free now. */
  useFreeSlots(): void {
    const { orders, shards, services, isOffSlot, onChange } = this.#parts;
    if (!this.rests.isWaiting || orders.isStopped || orders.startAtUs === undefined) return;
    // What this run has ended holds its slots until the run has, unless the run itself needs them.
    for (const progress of shards.all) {
      if (isOffSlot(progress)) services.registry.release(progress.agentId, progress.shard);
    }
    while (this.rests.isWaiting && this.#handingOut !== 'tried') {
      const taker = this.#taker();
      if (taker === undefined) break;
      const attempt = this.rests.place(taker, this.nowMs);
      if (attempt === undefined) break;
      if (this.#handingOut === 'failed') this.#handingOut = 'tried';
      this.#handOut(attempt);
    }
    onChange();
  }

  /**
   * A slot holds the attempt: only now it is named when its load begins, so nobody can be late for that. Stored
   * before it is ordered, or a restarted coordinator would take a live attempt for one that never began.
   */
  begin(progress: ShardProgress, tries = 0): void {
    const { orders, services, timers, journal } = this.#parts;
    if (orders.startAtUs === undefined || progress.hasBegun || this.#beginning.has(progress)) return;
    timers.disarm(`ready ${progress.key}`);
    const earliestMs = this.#earliestMs(progress, orders.startAtUs, LIMITS.startDelayMs * 4 ** tries);
    progress.startSlice ??= laterSlice(earliestMs);
    const sliceMs = progress.startSlice * LIMITS.intervalMs;
    progress.fromMs = Math.max(earliestMs, sliceMs, this.rests.notBeforeMs(progress));
    if (progress.fromMs >= endMsOf(progress)) {
      this.giveBack(progress, 'its time was over before a slot held it');
      return;
    }
    this.rests.begins(progress, services.registry.isExtra(progress.agentId, progress.shard));
    if (!services.canResume) {
      this.#haveBegun(progress);
      return;
    }
    this.#beginning.add(progress);
    journal.saveShard(progress);
    this.#parts.onChange();
    void journal.settled().then(() => {
      this.#beginning.delete(progress);
      if (progress.didNothing) return;
      // What was stored late is named again, as nobody has been told.
      if (tries < MAX_BEGIN_TRIES && this.#isLate(progress)) this.begin(progress, tries + 1);
      else this.#haveBegun(progress);
    });
  }

  #haveBegun(progress: ShardProgress): void {
    const { books, journal, timers, onChange, onBegun } = this.#parts;
    timers.disarm('rest');
    progress.hasBegun = true;
    books.open(progress);
    this.rests.begun(progress);
    journal.saveShard(progress);
    onBegun(progress);
    onChange();
  }

  #isLate({ fromMs = 0 }: ShardProgress): boolean {
    return fromMs < this.nowMs + LEAST_LEAD_MS;
  }

  /** Run time of the first instant, in whole ms, that an order given now can still reach. */
  #earliestMs({ agentId }: ShardProgress, startAtUs: number, delayMs: number): number {
    const { services, agents } = this.#parts;
    const uncertainties = agents
      .facts()
      .flatMap((facts) => (facts.agentId === agentId ? [facts.clockUncertaintyUs] : []));
    return (startInstantUs(services.clock.epochUs(), delayMs, uncertainties) - startAtUs) / 1_000;
  }

  /**
   * An attempt that has not begun, and will not: its rest, or the start of the whole run, waits again.
   * @param wasTried false when no agent has heard of it.
   */
  giveBack(progress: ShardProgress, why: string, wasTried = true): void {
    const { services, groups, journal, timers, onChange } = this.#parts;
    const delayMs = wasTried ? RETRY_MS : QUEUE_RETRY_MS;
    if (progress.hasBegun || progress.didNothing) return;
    services.log.info(`${progress.name} does not begin: ${why}`);
    if (this.#handingOut === 'tried') this.#handingOut = 'failed';
    timers.disarm(`ready ${progress.key}`);
    progress.didNothing = true;
    progress.isFenced = true;
    services.registry.send(progress.agentId, { kind: 'fenced', shard: progress.attempt });
    services.registry.release(progress.agentId, progress.shard);
    journal.saveShard(progress);
    void groups.release(progress).then(() => groups.withdraw(progress));
    // Of one that is booked as lost the rest waits already.
    const isOfStart = progress.startSlice === 0 && !this.rests.isLost(progress);
    if (isOfStart) this.#replaceLater(progress, delayMs);
    else this.rests.failed(progress, wasTried);
    if (this.rests.isWaiting) timers.arm('retry', delayMs, () => this.useFreeSlots());
    onChange();
  }

  /** Again and again, until somebody holds it or the time to be ready is over. */
  #replaceLater(progress: ShardProgress, delayMs: number): void {
    const { timers, orders } = this.#parts;
    timers.arm(`replace ${progress.shard.shardIndex}`, delayMs, () => {
      if (orders.isStopped || orders.startAtUs !== undefined) return;
      if (!this.replace(progress)) this.#replaceLater(progress, QUEUE_RETRY_MS);
    });
  }

  /** Nobody takes over what has not begun. */
  dropAll(why: string): void {
    const { shards } = this.#parts;
    for (const progress of shards.all) {
      if (progress.shard.attempt > 1 && !progress.hasBegun) this.giveBack(progress, why);
    }
    this.rests.dropAll();
  }

  #handOut(attempt: ShardProgress): void {
    const { services, shards, agents } = this.#parts;
    services.registry.reserve(attempt.agentId, attempt.shard);
    shards.add(attempt);
    agents.add(attempt.agentId);
    services.log.info(`${attempt.name} takes over what was left`);
    void this.#handOver(attempt);
  }

  async #handOver(attempt: ShardProgress): Promise<void> {
    const { services, groups, journal, timers } = this.#parts;
    try {
      await journal.insertShards([attempt]);
      if (attempt.isFenced) return;
      timers.arm(`ready ${attempt.key}`, READY_MS, () => this.giveBack(attempt, 'no slot took it in time'));
      await groups.enqueue([attempt]);
      this.#worksAgain();
      if (!attempt.isFenced) return;
      await groups.release(attempt);
      await groups.withdraw(attempt);
    } catch (error) {
      services.log.warn({ err: error }, `${attempt.name} could not be handed to the queue`);
      if (this.#handingOut === 'works') this.#handingOut = 'failed';
      this.giveBack(attempt, `it could not be handed to the queue: ${queueReason(error)}`, false);
    }
  }

  #worksAgain(): void {
    if (this.#handingOut === 'works') return;
    this.#handingOut = 'works';
    this.useFreeSlots();
  }

  #taker(): Taker | undefined {
    const { runId, on, services } = this.#parts;
    return chooseTaker(services.registry.restRooms(runId), on);
  }
}
