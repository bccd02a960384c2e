import type { Machine, Shard } from '@broadside/shared';
import type { Logger } from 'pino';
import type { SlotEvents, SlotRun } from '../slot/slot.js';
import { capacityKey, readCapacity, writeCapacity } from './capacity-cache.js';
import { measureCapacity } from './measure-capacity.js';

export interface KnownCapacityOptions {
  /** Where measurements are kept. */
  readonly file: string;
  readonly runInSlot: (shard: Shard, events: SlotEvents) => SlotRun;
  readonly machine: Machine;
  readonly settings: { readonly slots: number; readonly transport: string; readonly version: string };
  readonly logger: Logger;
}

/**
 * What one slot of this agent can do, in requests per second: as it was measured before, or measured now, which
 * takes about a second.
 * @returns undefined where it cannot be measured; the agent then counts as a usual one. Never rejects.
 */
export async function knownCapacity(options: KnownCapacityOptions): Promise<number | undefined> {
  const { file, runInSlot, machine, settings, logger } = options;
  const key = capacityKey(machine, settings);
  const before = await readCapacity(file, key);
  if (before !== undefined) return before;
  let capacityHz: number | undefined;
  try {
    capacityHz = await measureCapacity({ runInSlot, machine, slots: settings.slots });
    if (capacityHz === undefined) logger.warn('the capacity of this machine could not be measured in time');
    else await writeCapacity(file, key, capacityHz);
  } catch (error) {
    // Without a file it is measured again next time; without a measurement its slots count as usual ones.
    logger.warn({ err: error, file }, 'the capacity of this machine was not measured, or not kept');
  }
  return capacityHz;
}
