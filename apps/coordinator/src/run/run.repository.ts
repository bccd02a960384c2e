import {
  type Fatal,
  fatalSchema,
  isFinalState,
  type Plan,
  planSchema,
  type Report,
  type RunDetail,
  type RunState,
  type RunSummary,
  redactPlan,
  reportSchema,
  runStateSchema,
  type Shard,
  type ShardAttempt,
  shardSchema,
  verdictSchema,
} from '@broadside/shared';
import { sql } from 'kysely';
import { z } from 'zod';
import { byteBlock } from '../storage/byte-block.js';
import { LostStoreError } from '../storage/lost-store.js';
import { storableJson, storableText } from '../storage/storable-text.js';
import type { Store } from '../storage/store.js';
import type { StorePatience } from '../storage/store-patience.js';
import { type RunNotes, runNotesSchema } from './run-notes.js';

/** Of one statement. */
const MAX_ROWS = 1_000;

const FINAL_STATES = ['finished', 'aborted', 'failed'] as const;

/** assigned: handed to an agent; unused: no slot ever began it. */
const SHARD_STATES = ['assigned', 'finished', 'failed', 'fenced', 'unused'] as const;
const shardStateSchema = z.enum(SHARD_STATES);

export interface NewRun {
  readonly id: string;
  readonly plan: Plan;
  readonly createdAt: Date;
}

export interface RunChange {
  readonly state: RunState;
  readonly reason?: string | undefined;
  readonly startedAt?: Date | undefined;
  readonly endedAt?: Date | undefined;
  readonly report?: Report | undefined;
  readonly notes?: RunNotes | undefined;
}

export interface AssignedShard {
  readonly shard: Shard;
  readonly agentId: string;
  readonly agentName: string;
  /** Absent: 0, the first attempts. */
  readonly group?: number;
  readonly startSlice?: number | undefined;
}

/** A run that had not ended when its coordinator did. */
export interface UnfinishedRun extends NewRun {
  readonly state: RunState;
  /** Absent while it waited for slots. */
  readonly notes: RunNotes | undefined;
}

/** An attempt as an earlier coordinator left it. */
export interface StoredShard extends Required<AssignedShard> {
  readonly state: ShardChange['state'];
  readonly totals: Uint8Array | undefined;
  readonly fatal: Fatal | undefined;
}

export interface ShardChange {
  readonly state: (typeof SHARD_STATES)[number];
  readonly startSlice?: number | undefined;
  readonly totals?: Uint8Array | undefined;
  readonly fatal?: unknown;
}

/** Runs and their shards in the store. */
export class RunRepository {
  readonly #store: Store;
  readonly #patience: StorePatience;

  /** @param patience with a store that is away, for what runs write; whoever asks gets an answer at once. */
  constructor(store: Store, patience: StorePatience) {
    this.#store = store;
    this.#patience = patience;
  }

  /** @throws LostStoreError where the store is gone: it may still take what nobody would find again. */
  async insert(run: NewRun): Promise<void> {
    const gone = this.#store.whyGone();
    if (gone !== undefined) throw new LostStoreError(gone);
    await this.#store.db
      .insertInto('runs')
      .values({ id: run.id, state: 'queued', plan: JSON.stringify(run.plan), created_at: run.createdAt })
      .execute();
  }

  async change(runId: string, change: RunChange): Promise<void> {
    const update = this.#store.db
      .updateTable('runs')
      .set({
        state: change.state,
        ...(change.reason === undefined ? {} : { reason: storableText(change.reason) }),
        ...(change.startedAt === undefined ? {} : { started_at: change.startedAt }),
        ...(change.endedAt === undefined ? {} : { ended_at: change.endedAt }),
        ...(change.report === undefined ? {} : reportColumns(change.report)),
        ...(change.notes === undefined ? {} : { notes: storableJson(change.notes) }),
      })
      .where('id', '=', runId);
    await this.#patience.ask(`the state of run ${runId}`, () => update.execute());
    if (isFinalState(change.state)) {
      await this.#patience.ask(`the end of run ${runId}`, () => this.#forgetSecrets(runId));
    }
  }

  /** Nothing of a run that has ended is carried out again, so nobody needs its keys and passwords any more. */
  async #forgetSecrets(runId: string): Promise<void> {
    const { db } = this.#store;
    const row = await db.selectFrom('runs').select('plan').where('id', '=', runId).executeTakeFirst();
    if (row === undefined) return;
    const plan = planSchema.parse(row.plan);
    const stored = JSON.stringify(redactPlan(plan));
    if (stored === JSON.stringify(plan)) return;
    // In SQL, because to everything else a plan never changes once it is accepted.
    await sql`update runs set plan = ${stored}::jsonb where id = ${runId}`.execute(db);
    // A shard holds them in encoded form too: in its header lines, and in what it says to a proxy.
    await sql`update shards set shard = shard #- '{connection,tls,key}' #- '{connection,proxy,connectLines}'
      #- '{request,headerLines}' where run_id = ${runId}`.execute(db);
  }

  async insertShards(shards: readonly AssignedShard[]): Promise<void> {
    for (let from = 0; from < shards.length; from += MAX_ROWS) {
      const insert = this.#store.db
        .insertInto('shards')
        .values(
          shards.slice(from, from + MAX_ROWS).map(({ shard, agentId, agentName, group, startSlice }) => ({
            run_id: shard.runId,
            shard_index: shard.shardIndex,
            attempt: shard.attempt,
            agent_id: agentId,
            agent_name: storableText(agentName),
            state: 'assigned',
            group_number: group ?? 0,
            start_slice: startSlice ?? null,
            shard: JSON.stringify(shard),
          })),
        )
        .onConflict((conflict) => conflict.doNothing());
      await this.#patience.ask('shards', () => insert.execute());
    }
  }

  /** Stores what has changed of attempts; what a change leaves open stays as it is. */
  async changeShards(
    changes: readonly { readonly attempt: ShardAttempt; readonly change: ShardChange }[],
  ): Promise<void> {
    for (let from = 0; from < changes.length; from += MAX_ROWS) {
      const rows = changes.slice(from, from + MAX_ROWS);
      const { block, firsts, sizes } = byteBlock(rows.map(({ change }) => change.totals));
      const update = sql`
        update shards set
          state = given.state,
          start_slice = coalesce(given.start_slice, shards.start_slice),
          totals = coalesce(substring(${block}::bytea from given.first for given.size), shards.totals),
          fatal = coalesce(given.fatal::jsonb, shards.fatal)
        from unnest(
          ${rows.map(({ attempt }) => attempt.runId)}::text[],
          ${rows.map(({ attempt }) => attempt.shardIndex)}::integer[],
          ${rows.map(({ attempt }) => attempt.attempt)}::integer[],
          ${rows.map(({ change }) => change.state)}::text[],
          ${rows.map(({ change }) => change.startSlice ?? null)}::integer[],
          ${firsts}::integer[],
          ${sizes}::integer[],
          ${rows.map(({ change: { fatal } }) => (fatal === undefined ? null : storableJson(fatal)))}::text[]
        ) as given (run_id, shard_index, attempt, state, start_slice, first, size, fatal)
        where shards.run_id = given.run_id and shards.shard_index = given.shard_index
          and shards.attempt = given.attempt`;
      await this.#patience.ask('the states of shards', () => update.execute(this.#store.db));
    }
  }

  /** Newest first. Reads no report, and of the plans only what a list shows: both may be large, and a list is long. */
  async list(limit: number): Promise<RunSummary[]> {
    const rows = await this.#store.db
      .selectFrom('runs')
      .select(['id', 'state', 'reason', 'created_at', 'started_at', 'ended_at', 'completed', 'verdict'])
      .select([sql<string>`plan ->> 'target'`.as('target'), sql<string | null>`plan ->> 'name'`.as('name')])
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(limit)
      .execute();
    return rows.map(summaryOf);
  }

  /** The plan without its secrets: this is what leaves the coordinator. */
  async find(runId: string): Promise<RunDetail | undefined> {
    const row = await this.#store.db
      .selectFrom('runs')
      .selectAll()
      .where('id', '=', runId)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    const plan = redactPlan(planSchema.parse(row.plan));
    const report = row.report === null ? undefined : reportSchema.parse(row.report);
    const { target, name = null } = plan;
    return { ...summaryOf({ ...row, target, name }), plan, ...(report === undefined ? {} : { report }) };
  }

  /** Runs that have not ended, oldest first. */
  async loadUnfinished(): Promise<UnfinishedRun[]> {
    const rows = await this.#store.db
      .selectFrom('runs')
      .select(['id', 'state', 'plan', 'created_at', 'notes'])
      .where('state', 'not in', [...FINAL_STATES])
      .orderBy('created_at')
      .orderBy('id')
      .execute();
    return rows.map((row) => ({
      id: row.id,
      state: runStateSchema.parse(row.state),
      plan: planSchema.parse(row.plan),
      createdAt: row.created_at,
      notes: row.notes === null ? undefined : runNotesSchema.parse(row.notes),
    }));
  }

  /** All attempts at the shards of a run, in the order in which they were made. */
  async loadShards(runId: string): Promise<StoredShard[]> {
    const rows = await this.#store.db
      .selectFrom('shards')
      .selectAll()
      .where('run_id', '=', runId)
      .orderBy('group_number')
      .orderBy('shard_index')
      .execute();
    return rows.map((row) => ({
      shard: shardSchema.parse(row.shard),
      agentId: row.agent_id,
      agentName: row.agent_name,
      group: row.group_number,
      startSlice: row.start_slice ?? undefined,
      state: shardStateSchema.parse(row.state),
      totals: row.totals ?? undefined,
      fatal: row.fatal === null ? undefined : fatalSchema.parse(row.fatal),
    }));
  }

  /**
   * Ends the runs of a coordinator that stopped before they had.
   * @param except ids of runs that go on.
   * @returns the ids of those that were ended.
   */
  async failUnfinished(reason: string, endedAt: Date, except: readonly string[] = []): Promise<string[]> {
    const rows = await this.#store.db
      .updateTable('runs')
      .set({ state: 'failed', reason, ended_at: endedAt })
      .where('state', 'not in', [...FINAL_STATES])
      .$if(except.length > 0, (query) => query.where('id', 'not in', [...except]))
      .returning('id')
      .execute();
    for (const { id } of rows) await this.#forgetSecrets(id);
    return rows.map((row) => row.id);
  }
}

interface SummaryRow {
  readonly id: string;
  readonly state: string;
  readonly reason: string | null;
  readonly target: string;
  readonly name: string | null;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly ended_at: Date | null;
  readonly completed: string | null;
  readonly verdict: string | null;
}

function summaryOf(row: SummaryRow): RunSummary {
  return {
    id: row.id,
    state: runStateSchema.parse(row.state),
    ...(row.reason === null ? {} : { reason: row.reason }),
    target: row.target,
    ...(row.name === null ? {} : { name: row.name }),
    createdAt: row.created_at.toISOString(),
    ...(row.started_at === null ? {} : { startedAt: row.started_at.toISOString() }),
    ...(row.ended_at === null ? {} : { endedAt: row.ended_at.toISOString() }),
    ...(row.completed === null ? {} : { completed: Number(row.completed) }),
    ...(row.verdict === null ? {} : { verdict: verdictSchema.shape.outcome.parse(row.verdict) }),
  };
}

function reportColumns(report: Report) {
  return {
    report: storableJson(report),
    completed: report.counters.completed,
    verdict: report.verdict.outcome,
  };
}
