import {
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
} from '@broadside/shared';
import { sql } from 'kysely';
import type { Store } from '../storage/store.js';

const FINAL_STATES = ['finished', 'aborted', 'failed'] as const;

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
}

export interface AssignedShard {
  readonly shard: Shard;
  readonly agentId: string;
  readonly agentName: string;
}

export interface ShardChange {
  readonly state: 'assigned' | 'finished' | 'failed' | 'fenced';
  readonly totals?: Uint8Array | undefined;
  readonly fatal?: unknown;
}

/** Runs and their shards in the store. */
export class RunRepository {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  async insert(run: NewRun): Promise<void> {
    await this.#store.db
      .insertInto('runs')
      .values({ id: run.id, state: 'queued', plan: JSON.stringify(run.plan), created_at: run.createdAt })
      .execute();
  }

  async change(runId: string, change: RunChange): Promise<void> {
    await this.#store.db
      .updateTable('runs')
      .set({
        state: change.state,
        ...(change.reason === undefined ? {} : { reason: change.reason }),
        ...(change.startedAt === undefined ? {} : { started_at: change.startedAt }),
        ...(change.endedAt === undefined ? {} : { ended_at: change.endedAt }),
        ...(change.report === undefined ? {} : { report: JSON.stringify(change.report) }),
      })
      .where('id', '=', runId)
      .execute();
    if (isFinalState(change.state)) await this.#forgetSecrets(runId);
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
    const MAX_ROWS = 1_000;
    for (let from = 0; from < shards.length; from += MAX_ROWS) {
      await this.#store.db
        .insertInto('shards')
        .values(
          shards.slice(from, from + MAX_ROWS).map(({ shard, agentId, agentName }) => ({
            run_id: shard.runId,
            shard_index: shard.shardIndex,
            attempt: shard.attempt,
            agent_id: agentId,
            agent_name: agentName,
            state: 'assigned',
            shard: JSON.stringify(shard),
          })),
        )
        .execute();
    }
  }

  async changeShard(attempt: ShardAttempt, change: ShardChange): Promise<void> {
    await this.#store.db
      .updateTable('shards')
      .set({
        state: change.state,
        ...(change.totals === undefined ? {} : { totals: change.totals }),
        ...(change.fatal === undefined ? {} : { fatal: JSON.stringify(change.fatal) }),
      })
      .where('run_id', '=', attempt.runId)
      .where('shard_index', '=', attempt.shardIndex)
      .where('attempt', '=', attempt.attempt)
      .execute();
  }

  /** Newest first. */
  async list(limit: number): Promise<RunSummary[]> {
    const rows = await this.#store.db
      .selectFrom('runs')
      .select(['id', 'state', 'reason', 'plan', 'created_at', 'started_at', 'ended_at'])
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(limit)
      .execute();
    return rows.map((row) => summaryOf(row, planSchema.parse(row.plan)));
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
    return { ...summaryOf(row, plan), plan, ...(report === undefined ? {} : { report }) };
  }

  /** Ends the runs of a coordinator that stopped before they had. @returns their ids. */
  async failUnfinished(reason: string, endedAt: Date): Promise<string[]> {
    const rows = await this.#store.db
      .updateTable('runs')
      .set({ state: 'failed', reason, ended_at: endedAt })
      .where('state', 'not in', [...FINAL_STATES])
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
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly ended_at: Date | null;
}

function summaryOf(row: SummaryRow, plan: Plan): RunSummary {
  return {
    id: row.id,
    state: runStateSchema.parse(row.state),
    ...(row.reason === null ? {} : { reason: row.reason }),
    target: plan.target,
    ...(plan.name === undefined ? {} : { name: plan.name }),
    createdAt: row.created_at.toISOString(),
    ...(row.started_at === null ? {} : { startedAt: row.started_at.toISOString() }),
    ...(row.ended_at === null ? {} : { endedAt: row.ended_at.toISOString() }),
  };
}
