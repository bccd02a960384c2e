/** What follows for a verdict from a target on the generator's own machine, where both want the same CPUs. */
import { formatCount, formatCounted } from '../units.js';
import { percent, SHARED_DELAY_HIGH } from './generator-demand.js';
import { type Limit, undecided } from './limit-finding.js';
import type { Report } from './report.schema.js';

/** From this share of a machine's CPU time on, the generator slows a target on the same machine down. */
const SHARED_CPU_SHARE = 0.25;

export const MOVE_ONE = 'client and target share a machine: move one of them to another';

export function sharesMachine({ shards }: Pick<Report, 'shards'>): boolean {
  return shards.some((shard) => shard.sharesMachine === true);
}

/**
 * `target` is a claim that the target could do no more. On a shared machine it holds only while both found a CPU
 * when they wanted one: an engine thread that waits behind the target says that the target waits behind it too.
 * @param delay what an engine thread waited for a CPU in nearly every second at most, 0 … 1.
 */
export function sharedCpuDoubt(report: Omit<Report, 'verdict'>, found: Limit, delay: number): Limit {
  if (found.limit !== 'target' || !sharesMachine(report)) return found;
  const taken = takenCpuShare(report);
  const crowded = delay >= SHARED_DELAY_HIGH;
  if (!crowded && taken < SHARED_CPU_SHARE) return found;
  const why = crowded
    ? `client and target share the CPUs, and engine threads waited for one up to ${percent(delay)} of the time`
    : `the target shared its machine with the generator, which took ${percent(taken)} of the CPUs`;
  return {
    ...undecided(`${found.reasons.join('; ')}, but ${why}: the target may be faster alone`),
    advice: [MOVE_ONE, ...fewerSlotsAdvice(report)],
  };
}

/** Largest share of one machine's CPU time that engine threads took beside their target. */
function takenCpuShare(report: Omit<Report, 'verdict'>): number {
  const shares = report.agents.map(({ agentId, machine }) => {
    const own = report.shards.filter((shard) => shard.agentId === agentId && shard.sharesMachine === true);
    return own.reduce((sum, shard) => sum + (shard.self?.cpuShare ?? 0), 0) / machine.cpus;
  });
  return Math.max(0, ...shares);
}

interface SlotsInUse {
  readonly slots: number;
  readonly cpus: number;
}

/** Slots that the run used, and CPUs of the machines they are on; two agents of one machine count it once. */
export function slotsInUse({ shards, agents }: Pick<Report, 'shards' | 'agents'>): SlotsInUse {
  const cpus = new Map<string, number>();
  for (const { shards: carried, machine } of agents) {
    if (carried > 0) cpus.set(machine.hostname, machine.cpus);
  }
  return {
    slots: new Set(shards.map((shard) => shard.shardIndex)).size,
    cpus: [...cpus.values()].reduce((sum, each) => sum + each, 0),
  };
}

/** Where more slots than one crowd a machine, whether by themselves or together with the target. */
export function fewerSlotsAdvice(report: Pick<Report, 'shards' | 'agents'>): string[] {
  const { slots, cpus } = slotsInUse(report);
  if (slots < 2) return [];
  const inUse = `${formatCount(slots)} were in use on ${formatCounted(cpus, 'CPU')}`;
  if (sharesMachine(report) && slots >= cpus) {
    const half = Math.max(1, Math.floor(cpus / 2));
    return [`use fewer slots (--slots ${half}): ${inUse}, and the target needs some too`];
  }
  return slots > cpus ? [`use fewer slots (--slots ${cpus}): ${inUse}`] : [];
}

/** What to do for the engine threads to have time to spare. */
export function spareAdvice(report: Pick<Report, 'shards' | 'agents'>): string[] {
  const fewer = fewerSlotsAdvice(report);
  if (sharesMachine(report)) return [MOVE_ONE, ...fewer];
  if (fewer.length > 0) return fewer;
  const { slots, cpus } = slotsInUse(report);
  return slots < cpus
    ? ['use more slots, or fewer connections, to tell']
    : ['start more agents on other machines, or use fewer connections, to tell'];
}
