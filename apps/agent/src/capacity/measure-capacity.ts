/** A short load of one slot on a target of its own, to know how much the slots of this machine can do. */
import { type Clock, monotonicClock } from '@broadside/engine/host';
import {
  counterOf,
  decodeTotals,
  type Machine,
  planSchema,
  type Shard,
  selfMeasurementOf,
  splitPlan,
} from '@broadside/shared';
import type { SlotEnd, SlotEvents, SlotRun } from '../slot/slot.js';
import { within } from '../within.js';
import { BestWindow } from './best-window.js';
import { LoopbackTarget } from './loopback-target.js';
import { slotCapacityHz } from './slot-capacity.js';

export interface MeasureCapacityOptions {
  readonly runInSlot: (shard: Shard, events: SlotEvents) => SlotRun;
  readonly machine: Pick<Machine, 'cpus' | 'cgroup'>;
  readonly slots: number;
  readonly clock?: Clock;
}

/** The first load only makes the code of the thread fast. */
const WARM_UP_MS = 200;
const WINDOW_MS = 80;
/** Never longer, whatever the machine is busy with: then what is known by then counts. */
const MOST_MS = 2_000;
const CONNECTIONS = 32;
const START_DELAY_US = 2_000;

/**
 * Measures what one slot can do; takes about a second.
 * @returns requests per second for each slot, undefined where it could not be measured in time.
 * @throws Error when there is no free slot or no port on loopback.
 */
export async function measureCapacity(options: MeasureCapacityOptions): Promise<number | undefined> {
  const target = await LoopbackTarget.listen();
  const best = new BestWindow();
  let run: SlotRun | undefined;
  let isOver = false;
  const fire = async (durationMs: number): Promise<number | undefined> => {
    run = start(options, target.port, durationMs);
    return capacityIn(await run.ended, options);
  };
  const measure = async (): Promise<void> => {
    await fire(WARM_UP_MS);
    while (!isOver && !best.isSettled) {
      const capacityHz = await fire(WINDOW_MS);
      // A window that was cut short tells little.
      if (!isOver) best.add(capacityHz);
    }
  };
  try {
    const measuring = measure();
    await within(MOST_MS, measuring);
    isOver = true;
    run?.stop();
    // Waited for in any case: a shard may come for the slot.
    await measuring;
    return best.bestHz;
  } finally {
    await target.close();
  }
}

function capacityIn(end: SlotEnd, { machine, slots }: MeasureCapacityOptions): number | undefined {
  if (end.kind !== 'ended') return undefined;
  const totals = decodeTotals(Buffer.from(end.result.totals, 'base64'));
  return slotCapacityHz({
    cpuUs: selfMeasurementOf(totals)?.cpuUs ?? 0,
    completed: counterOf(totals.counters, 'completed'),
    slots,
    cpus: machine.cpus,
    cpuQuota: machine.cgroup?.cpuQuota,
  });
}

function start(
  { runInSlot, clock = monotonicClock }: MeasureCapacityOptions,
  port: number,
  durationMs: number,
) {
  const plan = planSchema.parse({
    target: `http://127.0.0.1:${port}/`,
    connections: CONNECTIONS,
    durationMs,
  });
  const [shard] = splitPlan(plan, 'capacity', 1);
  if (shard === undefined) throw new Error('a plan has at least one shard');
  const run = runInSlot(shard, {
    onReady: () => run.start(clock.nowUs() + START_DELAY_US),
    onProbed: () => undefined,
    onInterval: () => undefined,
  });
  return run;
}
