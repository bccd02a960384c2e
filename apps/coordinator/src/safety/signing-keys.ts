/**
 * The keys that shard jobs are signed with: kept in the store, so that a coordinator that comes back in the middle of
 * a run signs as before, and replaced now and then at a start. Agents learn the public halves over their socket.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { LIMITS } from '@broadside/shared';
import { z } from 'zod';
import type { SettingsRepository } from './settings.repository.js';

const NAME = 'signing-keys';
/** A key that has signed this long is replaced at the next start. */
const REPLACE_AFTER_MS = 30 * 24 * 3_600_000;

const storedKeysSchema = z
  .array(
    z.object({
      /** PKCS 8, DER, base64. */
      privateKey: z.base64().max(1_000),
      createdAtMs: z.number(),
    }),
  )
  .max(10);
type StoredKey = z.infer<typeof storedKeysSchema>[number];

export interface SigningKeys {
  /** Signs from now on. */
  readonly privateKey: KeyObject;
  /** SPKI, DER, base64: of the key that signs, and of one whose jobs may still be in a queue. */
  readonly publicKeys: readonly string[];
}

/** Newest first: the keys to go on with; a new one is made when there is none, or the newest has served its time. */
export function keysInUse(
  stored: readonly StoredKey[],
  nowMs: number,
  newKey: () => StoredKey,
): readonly StoredKey[] {
  const known = stored.toSorted((a, b) => b.createdAtMs - a.createdAtMs);
  const [newest] = known;
  const all =
    newest === undefined || nowMs - newest.createdAtMs > REPLACE_AFTER_MS ? [newKey(), ...known] : known;
  // A key is of use until the last job that it signed has expired: one job's life after the next key was made.
  return all.filter((_, i) => i === 0 || nowMs - (all[i - 1]?.createdAtMs ?? 0) <= LIMITS.shardOrderLifeMs);
}

export async function openSigningKeys(
  settings: Pick<SettingsRepository, 'load' | 'save'>,
  nowMs: number,
): Promise<SigningKeys> {
  const stored = (await settings.load(NAME, storedKeysSchema)) ?? [];
  const keys = keysInUse(stored, nowMs, () => newKeyAt(nowMs));
  if (keys.length !== stored.length || keys[0] !== stored[0]) await settings.save(NAME, keys);
  const [current, ...former] = keys.map(({ privateKey }) =>
    createPrivateKey({ key: Buffer.from(privateKey, 'base64'), format: 'der', type: 'pkcs8' }),
  );
  if (current === undefined) throw new Error('there is always a key');
  return { privateKey: current, publicKeys: [current, ...former].map(publicTextOf) };
}

function newKeyAt(createdAtMs: number): StoredKey {
  const { privateKey } = generateKeyPairSync('ed25519');
  return { privateKey: privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'), createdAtMs };
}

function publicTextOf(privateKey: KeyObject): string {
  return createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).toString('base64');
}
