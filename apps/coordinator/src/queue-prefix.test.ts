import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { openQueuePrefix } from './queue-prefix.js';

/** Settings of one store. */
class Settings {
  readonly #values = new Map<string, unknown>();

  load<T>(name: string, schema: z.ZodType<T>): Promise<T | undefined> {
    const value = this.#values.get(name);
    return Promise.resolve(value === undefined ? undefined : schema.parse(value));
  }

  save(name: string, value: unknown): Promise<void> {
    this.#values.set(name, value);
    return Promise.resolve();
  }
}

const place = { host: '127.0.0.1', port: 7070 };
const kept = { ...place, databaseUrl: 'postgres://127.0.0.1/b', dataDir: 'ephemeral' };
const passing = { ...place, databaseUrl: undefined, dataDir: 'ephemeral' };

describe('what stands before the keys of a coordinator', () => {
  it('is that of its store, wherever it listens', async () => {
    const settings = new Settings();
    const first = await openQueuePrefix(settings, kept);
    expect(first).toMatch(/^broadside-[0-9a-f]{12}$/);
    expect(await openQueuePrefix(settings, { ...kept, port: 7071 })).toBe(first);
    expect(await openQueuePrefix(new Settings(), kept)).not.toBe(first);
  });

  it('is that of its place where its store goes with it', async () => {
    const first = await openQueuePrefix(new Settings(), passing);
    expect(await openQueuePrefix(new Settings(), passing)).toBe(first);
    expect(await openQueuePrefix(new Settings(), { ...passing, port: 7071 })).not.toBe(first);
  });
});
