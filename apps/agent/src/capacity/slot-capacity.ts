/** From what one slot needed for a little load to what each slot of the agent can do. Pure. */

export interface CapacityFacts {
  /** CPU time that the engine thread took for these requests. */
  readonly cpuUs: number;
  readonly completed: number;
  readonly slots: number;
  /** Processors, and how many of them the control group grants on average. */
  readonly cpus: number;
  readonly cpuQuota?: number | undefined;
}

/** Fewer say nothing. */
const LEAST_REQUESTS = 500;

/**
 * Requests per second that one slot can send when all slots are busy. By CPU time per request, because that depends far
 * less on how fast the target of the measurement is, and on who else uses the machine at that moment, than a rate.
 * @returns undefined where too little was measured, or the platform tells no CPU time.
 */
export function slotCapacityHz(facts: CapacityFacts): number | undefined {
  const { cpuUs, completed, slots, cpus, cpuQuota = cpus } = facts;
  if (completed < LEAST_REQUESTS || !(cpuUs > 0)) return undefined;
  const cpuPerSlot = Math.min(Math.min(cpus, cpuQuota) / slots, 1);
  return Math.round((cpuPerSlot * 1e6 * completed) / cpuUs);
}
