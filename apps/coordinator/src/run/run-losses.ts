/** What becomes of the attempts of an agent that is lost, has forgotten them, leaves, or cannot take them. */
import type { Fatal, Interval, Loss, ShardAttempt } from '@broadside/shared';
import { isOfStart, isOver, type RunControl, type RunParts } from './run-parts.js';
import type { RunStart } from './run-start.js';
import { endedEarly, hasFatalEnd, isUnfinished, returnedBy, takeEnding } from './shard-ending.js';
import type { ShardProgress } from './shard-progress.js';

export class RunLosses {
  readonly #parts: RunParts;
  readonly #control: RunControl;
  readonly #start: RunStart;
  /** Agents that end their attempts themselves, and give back what is left of them. */
  readonly #leaving = new Set<string>();
  /** Attempts whose result the queue is being asked for. */
  readonly #lookedUp = new Set<string>();
  /** Attempts that are being closed by their totals. */
  #closings: Promise<void> = Promise.resolve();

  constructor(parts: RunParts, control: RunControl, start: RunStart) {
    this.#parts = parts;
    this.#control = control;
    this.#start = start;
  }

  /** Whether another slot is to take over what an agent cannot do. */
  get wantsRests(): boolean {
    const { head, orders } = this.#parts;
    return (head.plan.onAgentLoss ?? 'rebalance') === 'rebalance' && !orders.isStopped;
  }

  /** The agent has said that it leaves. */
  agentLeaves(agentId: string): void {
    this.#leaving.add(agentId);
  }

  /** The agent could not prepare the shard: without it the run is not the plan, unless another one can. */
  refused(agentId: string, attempt: ShardAttempt, fatal: Fatal): void {
    const { shards, agents, barrier, reissue, books, journal } = this.#parts;
    const progress = shards.find(agentId, attempt);
    if (progress === undefined || progress.hasEnded) return;
    if (barrier.isOpen) {
      const isBooked = progress.hasBegun || reissue.rests.isLost(progress);
      if (isBooked || !isOfStart(progress)) reissue.giveBack(progress, fatal.message);
      else {
        // While the start was being stored the agent has waited for it long enough.
        this.#lose(progress, 'left');
        this.#control.checkEnd();
      }
      return;
    }
    progress.didNothing = true;
    books.end(progress);
    // A restarted coordinator would take it for one that began, and miss its intervals.
    journal.saveShard(progress);
    if (fatal.code === 'AGENT_DRAINING') this.#loseBeforeStart(progress);
    else {
      progress.fatal = fatal;
      // Of several agents it is to be known which one.
      const isOne = agents.count === 1;
      this.#control.fail(isOne ? fatal.message : `agent ${progress.agentName}: ${fatal.message}`);
    }
    this.#control.checkEnd();
  }

  /**
   * Something came of a shard that has not begun.
   * @returns whether that is because its agent leaves: another one is to do all of it, and what came is not counted.
   */
  leftBeforeStart(progress: ShardProgress): boolean {
    const { orders } = this.#parts;
    // Of one that takes a rest over the queue tells.
    if (orders.isStopped || !isOfStart(progress) || !this.#leaving.has(progress.agentId)) return false;
    this.#lose(progress, 'left');
    this.#control.checkEnd();
    return true;
  }

  /** The agent said hello again: what it still holds goes on, what it has forgotten is lost. */
  agentBack(agentId: string, alive: ReadonlySet<string>): void {
    const { books, reissue } = this.#parts;
    for (const progress of this.#openShardsOf(agentId)) {
      if (alive.has(progress.key)) {
        this.#control.sayOrder(progress);
        books.acknowledge(progress);
      } else if (progress.isReady && !books.isDelivered(progress)) this.#miss(progress, 'forgotten');
    }
    reissue.useFreeSlots();
    this.#control.checkEnd();
  }

  agentLost(agentId: string): void {
    const { books, groups, agents } = this.#parts;
    for (const progress of this.#openShardsOf(agentId)) {
      // A shard that is delivered whole is not lost: its result is in the queue, or nobody is left to bring it.
      if (books.isDelivered(progress)) void groups.release(progress);
      else {
        agents.markLost(agentId);
        this.#miss(progress, 'lost');
      }
    }
    this.#control.checkEnd();
  }

  /** The agent of a fenced attempt says what it had sent in all. */
  abandoned(agentId: string, attempt: ShardAttempt, sent: number): void {
    const { shards, reissue } = this.#parts;
    const progress = shards.findFenced(agentId, attempt);
    if (progress === undefined) return;
    reissue.rests.abandoned(progress, sent);
    this.#control.saveNotes();
  }

  /** The queue was told not to wait for it, by us or by an earlier coordinator that stored no more than that. */
  endWithoutResult(progress: ShardProgress): void {
    const { books, journal } = this.#parts;
    if (!books.isDelivered(progress)) {
      this.#lose(progress, 'lost');
      return;
    }
    progress.isFenced = true;
    journal.saveShard(progress);
  }

  /** A shard has said its last although nobody stopped it: was it its budget, or something else? */
  checkLast(progress: ShardProgress, interval: Pick<Interval, 'counters' | 'number' | 'span'>): void {
    const { head, reissue } = this.#parts;
    // Its result came first, and tells of no error: of agents whose coordinator was away for too long.
    const hasNoError = progress.result !== undefined && progress.fatal === undefined;
    const hasStoppedItself = this.#leaving.has(progress.agentId) || endedEarly(interval) || hasNoError;
    if (hasStoppedItself && isUnfinished(progress.shard, interval)) {
      // What was left of it goes on elsewhere.
      reissue.lose(progress, 'left', { isWanted: this.wantsRests, returned: returnedBy(interval) });
      this.#afterLoss(progress);
    } else if (head.plan.onSocketError === 'stop' && hasFatalEnd(progress.shard, interval)) {
      this.#control.stopShards(`${progress.name} ended with a fatal error`);
    }
  }

  /**
   * What stopped attempts gave back to an earlier coordinator that stored their last intervals, and not any more
   * what becomes of it. Their agents have been told that they may go, and do not say it again.
   */
  restored(): void {
    const { shards, orders, reissue } = this.#parts;
    if (orders.isStopped) return;
    for (const progress of shards.all) {
      const { last, isFenced, hasBegun } = progress;
      if (last === undefined || isFenced || !hasBegun || reissue.rests.isLost(progress)) continue;
      if (endedEarly(last)) this.checkLast(progress, last);
    }
  }

  /** Results have another way than intervals: whether the last interval, still to come, may give something back. */
  mayGiveBack(progress: ShardProgress): boolean {
    const { totals, shard, isFenced } = progress;
    if (totals === undefined || isFenced || !this.wantsRests) return false;
    if (this.#parts.books.isDelivered(progress)) return false;
    return isUnfinished(shard, { counters: totals.counters, number: 0, span: totals.intervals });
  }

  #openShardsOf(agentId: string): ShardProgress[] {
    const { shards } = this.#parts;
    return shards.all.filter((progress) => progress.agentId === agentId && !isOver(this.#parts, progress));
  }

  /**
   * Intervals of it will not come. Its result may lie in the queue all the same, where it waits for the other shards
   * of its group: an agent that died right after its load has left that.
   */
  #miss(progress: ShardProgress, cause: Loss['cause']): void {
    const { groups, orders, journal, books } = this.#parts;
    if (progress.totals !== undefined || !progress.hasBegun || progress.isFenced) {
      this.#close(progress, cause);
      return;
    }
    if (this.#lookedUp.has(progress.key)) return;
    this.#lookedUp.add(progress.key);
    void groups.endingOf(progress).then((ending) => {
      this.#lookedUp.delete(progress.key);
      if (this.#control.isClosing || progress.isFenced) return;
      if (progress.totals === undefined && ending?.kind === 'result') {
        takeEnding(progress, ending, orders.isStopped);
        journal.saveShard(progress);
      }
      if (books.isDelivered(progress)) void groups.release(progress);
      else this.#close(progress, cause);
      this.#control.checkEnd();
    });
  }

  /** Where its result came, nothing of it is unknown but its place in time. */
  #close(progress: ShardProgress, cause: Loss['cause']): void {
    const { services, books, orders, reissue } = this.#parts;
    if (progress.totals === undefined || !progress.hasBegun) {
      this.#lose(progress, cause);
      return;
    }
    // One after the other: thousands at once would ask the store for more than it answers in time.
    this.#closings = this.#closings
      .then(() => books.closeByTotals(progress, () => services.intervals.read(progress.attempt)))
      .then((closing) => {
        if (closing === undefined || orders.isStopped || this.#control.isClosing) return;
        this.#leaving.add(progress.agentId);
        this.checkLast(progress, closing);
      })
      .catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        books.note(`${progress.name}: ${reason}`);
        progress.failure ??= reason;
      })
      .finally(() => {
        books.end(progress);
        reissue.useFreeSlots();
        this.#control.checkEnd();
      });
  }

  #lose(progress: ShardProgress, cause: Loss['cause']): void {
    const { reissue, books, services, journal, groups, orders, barrier } = this.#parts;
    if (!isOfStart(progress) && !progress.hasBegun) {
      reissue.giveBack(progress, `agent ${progress.agentName} was lost`);
      return;
    }
    progress.isFenced = true;
    // Of one that never began: it is to be done as a whole.
    progress.totals = undefined;
    progress.result = undefined;
    books.end(progress);
    services.registry.send(progress.agentId, { kind: 'fenced', shard: progress.attempt });
    journal.saveShard(progress);
    void groups.release(progress);
    // Once the barrier is open the start is only being stored: the rest of the shard is all of it.
    if (orders.startAtUs === undefined && !barrier.isOpen) {
      this.#loseBeforeStart(progress);
      return;
    }
    reissue.lose(progress, cause, { isWanted: this.wantsRests });
    this.#afterLoss(progress);
  }

  #afterLoss(progress: ShardProgress): void {
    if (this.#parts.head.plan.onAgentLoss === 'abort') {
      this.#control.stop(`agent ${progress.agentName} was lost, and the plan wants the run to end then`);
    }
    this.#parts.timers.armOnce('notes', 0, () => this.#control.saveNotes());
  }

  /** Nothing was sent, so another slot can do all of it. */
  #loseBeforeStart(progress: ShardProgress): void {
    const { barrier, timers, reissue } = this.#parts;
    barrier.lost(progress.shard.shardIndex);
    if (progress.shard.probe) timers.disarm('probe');
    if (this.wantsRests && reissue.replace(progress)) this.#start.awaitReady();
    else this.#control.fail(`agent ${progress.agentName} was lost before the start`);
  }
}
