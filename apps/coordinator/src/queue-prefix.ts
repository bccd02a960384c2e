import { createHash, randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { z } from 'zod';
import { CONFIG_DEFAULTS, type Config } from './config/config.schema.js';
import type { SettingsRepository } from './safety/settings.repository.js';

const NAME = 'queue-prefix';
const ID_BYTES = 6;

/**
 * What stands before every key in Redis; agents are told. It belongs to the store: coordinators with a store each can
 * share a Redis, and one that comes back finds its jobs. One whose store goes with it is known by where it listens, so
 * that its agents find the next one there.
 */
export async function openQueuePrefix(
  settings: Pick<SettingsRepository, 'load' | 'save'>,
  config: Pick<Config, 'databaseUrl' | 'dataDir' | 'host' | 'port'>,
): Promise<string> {
  const known = await settings.load(NAME, z.string().max(100));
  if (known !== undefined) return known;
  const { databaseUrl, dataDir, host, port } = config;
  const isKept = databaseUrl !== undefined || dataDir !== CONFIG_DEFAULTS.dataDir;
  const place = createHash('sha256').update(`${hostname()} ${host}:${port}`).digest();
  const made = `broadside-${(isKept ? randomBytes(ID_BYTES) : place.subarray(0, ID_BYTES)).toString('hex')}`;
  await settings.save(NAME, made);
  return made;
}
