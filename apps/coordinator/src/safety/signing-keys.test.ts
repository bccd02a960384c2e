import { createPublicKey, sign, verify } from 'node:crypto';
import { expect, it } from 'vitest';
import { keysInUse, openSigningKeys } from './signing-keys.js';

const DAY_MS = 24 * 3_600_000;

/** Settings in memory, as the store keeps them: as text. */
function settingsInMemory() {
  const values = new Map<string, string>();
  return {
    load: async <T>(name: string, schema: { parse(value: unknown): T }): Promise<T | undefined> => {
      const text = values.get(name);
      return text === undefined ? undefined : schema.parse(JSON.parse(text));
    },
    save: async (name: string, value: unknown): Promise<void> => {
      values.set(name, JSON.stringify(value));
    },
  };
}

it('keeps its key over restarts', async () => {
  const settings = settingsInMemory();
  const first = await openSigningKeys(settings, 0);
  const second = await openSigningKeys(settings, DAY_MS);
  expect(second.publicKeys).toEqual(first.publicKeys);
  const signature = sign(null, Buffer.from('x'), second.privateKey);
  const publicKey = createPublicKey({
    key: Buffer.from(first.publicKeys[0] ?? '', 'base64'),
    format: 'der',
    type: 'spki',
  });
  expect(verify(null, Buffer.from('x'), publicKey, signature)).toBe(true);
});

it('replaces a key that has served its time, and lets go of the old one when its last job has expired', async () => {
  const settings = settingsInMemory();
  const first = await openSigningKeys(settings, 0);
  const replaced = await openSigningKeys(settings, 31 * DAY_MS);
  expect(replaced.publicKeys).toHaveLength(2);
  expect(replaced.publicKeys[0]).not.toBe(first.publicKeys[0]);
  expect(replaced.publicKeys[1]).toBe(first.publicKeys[0]);
  expect((await openSigningKeys(settings, 32 * DAY_MS)).publicKeys).toEqual([replaced.publicKeys[0]]);
});

it('makes a key when there is none', () => {
  const key = { privateKey: 'AA==', createdAtMs: 5 };
  expect(keysInUse([], 5, () => key)).toEqual([key]);
  expect(keysInUse([key], 6, () => ({ ...key, createdAtMs: 6 }))).toEqual([key]);
});
