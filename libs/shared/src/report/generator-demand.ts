import type { Second } from '../wire/live-message.js';

/** An engine thread that is busier than this has no time left to keep its connections busy. */
export const DEMAND_FULL = 0.9;
/** Below this the engine threads had time to spare. */
export const DEMAND_SPARE = 0.7;
/** From this share of the time without a CPU on, the machine is part of the story. */
export const RUN_DELAY_HIGH = 0.2;
/** On a machine that the target shares, already this much says that both had to wait for CPUs. */
export const SHARED_DELAY_HIGH = 0.1;
/** The same for CPU time that a hypervisor gave to others. */
export const STEAL_HIGH = 0.05;
/** The same for pauses of an engine thread in which nothing is sent or received. */
export const GC_SHARE_HIGH = 0.05;

/**
 * How much of the second the busiest engine thread needed: busy, or ready to run and without a CPU. At 1 it
 * could not have done more. Busy alone is not enough: while a thread that has work waits for a CPU behind the
 * target on the same machine, it looks as if it waited for the target.
 */
export function demandOf(second: Second): number {
  return second.demandShareMax ?? second.busyShareMax;
}

/**
 * What a watcher should know while the run goes on; undefined while the generator is not the limit. A second whose
 * demand was not measured says nothing: it is the rest of one at the end, and a moment fills that.
 */
export function generatorWarningOf(second: Second): string | undefined {
  const { demandShareMax: demand = 0 } = second;
  if (demand < DEMAND_FULL || (second.sent === 0 && second.completed === 0)) return undefined;
  const delay = second.runDelayShareMax ?? 0;
  return `the generator is the limit: an engine thread ${demandText(demand, delay, 'needs')}`;
}

/** A run delay below this is the ordinary way of a scheduler and needs no word. */
const DELAY_TOLD = 0.05;

/**
 * Demand in words. Not "busy": part of it may be waiting for a CPU, and then the thread did little.
 * @param delay share of the time that was ready to run and without a CPU.
 */
export function demandText(demand: number, delay: number, verb: 'needs' | 'needed'): string {
  const waits = verb === 'needs' ? 'waits' : 'waited';
  const waited = delay < DELAY_TOLD ? '' : `, and ${waits} for one up to ${percent(delay)}`;
  return `${verb} a CPU for ${percent(demand)} of the time${waited}`;
}

export function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
