import type { RunState } from '@broadside/shared';
import { LostStoreError } from '../storage/lost-store.js';
import type { RunChange } from './run.repository.js';
import type { RunNotes } from './run-notes.js';
import type { RunServices, StateMessage } from './run-services.js';
import { assertMove } from './run-state.js';
import type { ShardProgress } from './shard-progress.js';

export interface RunJournalOptions {
  readonly runId: string;
  readonly services: Pick<RunServices, 'runs' | 'events' | 'log'>;
  /** The rest of what watchers see with a state. */
  readonly describe: () => Omit<StateMessage, 'kind' | 'runId' | 'state'>;
}

/** As long as a live message allows. */
const MAX_REASON_LENGTH = 1_000;

/** The state of one run: moved by the rules, told to watchers, and stored in the order of the moves. */
export class RunJournal {
  readonly #options: RunJournalOptions;
  #state: RunState = 'queued';
  #saving: Promise<void> = Promise.resolve();
  #unstoredEnd: RunChange | undefined;
  /** Shards of the newest write, as long as it has not begun and nothing else was noted after it. */
  #openBatch: Set<ShardProgress> | undefined;

  constructor(options: RunJournalOptions) {
    this.#options = options;
  }

  get state(): RunState {
    return this.#state;
  }

  get stateMessage(): StateMessage {
    const { runId, describe } = this.#options;
    const { reason, ...rest } = describe();
    const shortened = reason === undefined ? {} : { reason: reason.slice(0, MAX_REASON_LENGTH) };
    return { kind: 'state', runId, state: this.#state, ...rest, ...shortened };
  }

  move(to: RunState, change: Omit<RunChange, 'state'> = {}): void {
    const { runId, services } = this.#options;
    assertMove(this.#state, to);
    this.#state = to;
    this.#save(() => services.runs.change(runId, { state: to, ...change }));
    services.events.emit('live-message', this.stateMessage);
  }

  /** Stores new attempts, after everything noted before. Rejects when they could not be stored. */
  insertShards(shards: readonly ShardProgress[]): Promise<void> {
    const { services } = this.#options;
    this.#openBatch = undefined;
    const inserted = this.#saving.then(() => services.runs.insertShards(shards));
    this.#saving = inserted.catch(() => undefined);
    return inserted;
  }

  /** Thousands of shards end at the same moment: those that are noted one after the other are one statement. */
  saveShard(progress: ShardProgress): void {
    if (this.#openBatch !== undefined) {
      this.#openBatch.add(progress);
      return;
    }
    const batch = new Set([progress]);
    this.#save(() => {
      if (this.#openBatch === batch) this.#openBatch = undefined;
      const changes = [...batch].map(({ attempt, change }) => ({ attempt, change }));
      return this.#options.services.runs.changeShards(changes);
    });
    this.#openBatch = batch;
  }

  /** Stores what a restarted coordinator would have to go on with. */
  saveNotes(notes: RunNotes): void {
    const { runId, services } = this.#options;
    const state = this.#state;
    this.#save(() => services.runs.change(runId, { state, notes }));
  }

  /** Takes up the state of an earlier coordinator. */
  restore(state: RunState): void {
    this.#state = state;
  }

  /** What is noted from now on is stored only after this. @param done must not reject. */
  storeAfter(done: Promise<void>): void {
    this.#openBatch = undefined;
    this.#saving = this.#saving.then(() => done);
  }

  /** Everything noted so far is stored, or its failure is in the log. */
  settled(): Promise<void> {
    return this.#saving;
  }

  /** The end, where the store would not take it: then it exists only here. */
  get unstoredEnd(): RunChange | undefined {
    return this.#unstoredEnd;
  }

  /** Stores the end before it is told: who hears of it finds the report. Never rejects. */
  async end(change: RunChange): Promise<void> {
    const { runId, services } = this.#options;
    assertMove(this.#state, change.state);
    try {
      await services.runs.change(runId, change);
    } catch (error) {
      services.log.error({ err: error, run: runId }, 'a report could not be stored; it is kept in memory');
      this.#unstoredEnd = change;
      // Without the report, which may be what the store refuses, so that nobody takes the run up again.
      const { report: _report, ...bare } = change;
      this.#save(() => services.runs.change(runId, bare));
    }
    this.#state = change.state;
    services.events.emit('live-message', this.stateMessage);
  }

  #save(write: () => Promise<void>): void {
    const { runId, services } = this.#options;
    this.#openBatch = undefined;
    this.#saving = this.#saving.then(write).catch((error: unknown) => {
      // That is told once, and for all that is written.
      if (error instanceof LostStoreError) return;
      services.log.error({ err: error, run: runId }, 'a state could not be stored');
    });
  }
}
