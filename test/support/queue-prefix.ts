import type { Redis } from 'ioredis';

/** What stands before the keys of the one coordinator that uses this Redis. */
export async function queuePrefixIn(redis: Redis): Promise<string> {
  const keys = await redis.keys('broadside-*');
  const prefixes = new Set(keys.map((key) => key.split(':', 1)[0]));
  const [prefix] = prefixes;
  if (prefix === undefined || prefixes.size > 1)
    throw new Error(`${prefixes.size} coordinators use this Redis`);
  return prefix;
}
