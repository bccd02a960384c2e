import type { AuditEntry, AuditQuery } from '@broadside/shared';
import { auditEntrySchema } from '@broadside/shared';
import { sql } from 'kysely';
import type { Caller } from '../access/principal.js';
import { storableJson, storableText } from '../storage/storable-text.js';
import type { Store } from '../storage/store.js';

export interface NewAuditEntry {
  readonly at: Date;
  readonly action: string;
  /** Absent where nobody was recognised; then `address` says from where it came. */
  readonly caller?: Caller | undefined;
  readonly address?: string | undefined;
  readonly subject?: string | undefined;
  /** `done`, or the code of the refusal. */
  readonly result: string;
  readonly detail: Readonly<Record<string, string>>;
  readonly count: number;
}

/** The audit log in the store. It is added to, and cut at its far end; the store itself refuses changes. */
export class AuditRepository {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  async append({
    at,
    action,
    caller,
    address,
    subject,
    result,
    detail,
    count,
  }: NewAuditEntry): Promise<void> {
    await this.#store.db
      .insertInto('audit')
      .values({
        at,
        action,
        token_id: caller?.tokenId ?? null,
        token_name: caller === undefined ? null : storableText(caller.name),
        role: caller?.role ?? null,
        address: caller?.address ?? address ?? 'unknown',
        subject: subject === undefined ? null : storableText(subject),
        result,
        detail: storableJson(detail),
        count,
      })
      .execute();
  }

  async list({ limit, before }: AuditQuery): Promise<AuditEntry[]> {
    const rows = await this.#store.db
      .selectFrom('audit')
      .selectAll()
      .$if(before !== undefined, (query) => query.where('id', '<', String(before)))
      .orderBy('id', 'desc')
      .limit(limit)
      .execute();
    return rows.map((row) =>
      auditEntrySchema.parse({
        id: Number(row.id),
        at: row.at.toISOString(),
        action: row.action,
        ...(row.token_id === null
          ? {}
          : { who: { tokenId: row.token_id, name: row.token_name ?? '', role: row.role } }),
        address: row.address,
        ...(row.subject === null ? {} : { subject: row.subject }),
        result: row.result,
        detail: row.detail,
        count: row.count,
      }),
    );
  }

  /** Takes away what is older than the newest so many. */
  async prune(most: number): Promise<void> {
    await sql`delete from audit where id <= (select max(id) from audit) - ${most}`.execute(this.#store.db);
  }
}
