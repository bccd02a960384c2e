import type { z } from 'zod';
import { storableJson } from '../storage/storable-text.js';
import type { Store } from '../storage/store.js';

/** What the coordinator has to remember beyond its runs. */
export class SettingsRepository {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Undefined when it was never stored. @throws Error when what is stored does not fit. */
  async load<T>(name: string, schema: z.ZodType<T>): Promise<T | undefined> {
    const row = await this.#store.db
      .selectFrom('settings')
      .select('value')
      .where('name', '=', name)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    const parsed = schema.safeParse(row.value);
    if (parsed.success) return parsed.data;
    throw new Error(`the setting ${name} in the store is not valid`, { cause: parsed.error });
  }

  async save(name: string, value: unknown): Promise<void> {
    const text = storableJson(value);
    await this.#store.db
      .insertInto('settings')
      .values({ name, value: text })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: text }))
      .execute();
  }
}
