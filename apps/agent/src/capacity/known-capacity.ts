import type { Machine, Shard } from '@broadside/shared';
import type { Logger } from 'pino';
import type { SlotEvents, SlotRun } from '../slot/slot.js';
import { capacityKey, readCapacity, writeCapacity } from './capacity-cache.js';
import { measureCapacity } from './measure-capacity.js';
import { takeMeasuringTurn } from './measuring-turn.js';

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
 * takes about a second; agents that start together on one machine do it one after the other.
 * @returns undefined where it cannot be measured; the agent then counts as a usual one. Never rejects.
 */
export async function knownCapacity(options: KnownCapacityOptions): Promise<number | undefined> {
  const { file, runInSlot, machine, settings, logger } = options;
  const key = capacityKey(machine, settings);
  const before = await readCapacity(file, key);
  if (before !== undefined) return before;
  const giveBack = await takeMeasuringTurn(file).catch((error: unknown) => {
    logger.warn({ err: error, file }, 'the capacity of this machine cannot be kept');
  });
  let capacityHz: number | undefined;
  try {
    // Another agent may just have measured the same.
    capacityHz = await readCapacity(file, key);
    if (capacityHz !== undefined) return capacityHz;
    capacityHz = await measureCapacity({ runInSlot, machine, slots: settings.slots });
    if (capacityHz === undefined) logger.warn('the capacity of this machine could not be measured in time');
    else if (giveBack !== undefined) await writeCapacity(file, key, capacityHz);
  } catch (error) {
    // Without a file it is measured again next time; without a measurement its slots count as usual ones.
    logger.warn({ err: error, file }, 'the capacity of this machine was not measured, or not kept');
  } finally {
    await giveBack?.().catch((error: unknown) =>
      logger.warn({ err: error, file }, 'a turn was not given back'),
    );
  }
  return capacityHz;
}
