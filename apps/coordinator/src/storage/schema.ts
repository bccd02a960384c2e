import type { ColumnType, Generated } from 'kysely';

/**
 * JSON documents are read as unknown, because what is in a store is input like any other and is checked
 * against its schema by whoever reads it; they are written as text (`JSON.stringify`).
 */
type JsonColumn = ColumnType<unknown, string, string>;
type NullableJsonColumn = ColumnType<unknown, string | null | undefined, string | null>;
type NullableTime = ColumnType<Date | null, Date | null | undefined, Date | null>;
type Fixed<T> = ColumnType<T, T, never>;

/** One row per run. */
export interface RunsTable {
  id: Fixed<string>;
  state: string;
  plan: ColumnType<unknown, string, never>;
  created_at: Fixed<Date>;
  started_at: NullableTime;
  ended_at: NullableTime;
  reason: ColumnType<string | null, string | null | undefined, string | null>;
  report: NullableJsonColumn;
  /** What is known of an unfinished run beside its shards and intervals: what a restart has to go on with. */
  notes: NullableJsonColumn;
  /** Of the report, for lists of runs: complete requests (`pg` reads them as text), and the verdict's outcome. */
  completed: ColumnType<string | null, number | null | undefined, number | null>;
  verdict: ColumnType<string | null, string | null | undefined, string | null>;
}

/** One row per attempt at a shard. */
export interface ShardsTable {
  run_id: Fixed<string>;
  shard_index: Fixed<number>;
  attempt: Fixed<number>;
  agent_id: string;
  agent_name: string;
  state: string;
  /** Of those that were handed to the queue together: 0 for the first attempts. */
  group_number: ColumnType<number, number | undefined, never>;
  /** Slice of the run in which it begins; null while that is not named. */
  start_slice: ColumnType<number | null, number | null | undefined, number | null>;
  shard: JsonColumn;
  /** The totals frame of a finished shard, in the binary form of libs/shared. */
  totals: ColumnType<Buffer | null, Uint8Array | null | undefined, Uint8Array | null>;
  fatal: NullableJsonColumn;
}

/** One row per stored interval frame; the primary key is what makes a second delivery a duplicate. */
export interface IntervalsTable {
  run_id: Fixed<string>;
  shard_index: Fixed<number>;
  attempt: Fixed<number>;
  number: Fixed<number>;
  /** The frame exactly as the agent sent it. */
  frame: ColumnType<Buffer, Uint8Array, never>;
}

/** One row per token that was made here; its text is nowhere. */
export interface TokensTable {
  id: Fixed<string>;
  name: Fixed<string>;
  role: Fixed<string>;
  /** SHA-256 of its text. */
  digest: ColumnType<Buffer, Uint8Array, never>;
  created_at: Fixed<Date>;
  expires_at: ColumnType<Date | null, Date | null | undefined, never>;
  last_used_at: NullableTime;
  revoked_at: NullableTime;
}

/** One row per thing that somebody did. */
export interface AuditTable {
  /** Rises; the store gives it, and `pg` reads it as text. */
  id: Generated<string>;
  at: Fixed<Date>;
  action: Fixed<string>;
  token_id: Fixed<string | null>;
  token_name: Fixed<string | null>;
  role: Fixed<string | null>;
  address: Fixed<string>;
  subject: Fixed<string | null>;
  result: Fixed<string>;
  detail: ColumnType<unknown, string, never>;
  count: Fixed<number>;
}

/** One row per thing that the coordinator has to remember beyond its runs. */
export interface SettingsTable {
  name: Fixed<string>;
  value: JsonColumn;
}

export interface StoreSchema {
  runs: RunsTable;
  shards: ShardsTable;
  intervals: IntervalsTable;
  tokens: TokensTable;
  audit: AuditTable;
  settings: SettingsTable;
}
