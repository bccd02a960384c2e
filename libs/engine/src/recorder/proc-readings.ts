import { UNKNOWN } from '@broadside/shared/engine';

/** Of one thread since it began, in µs. */
export interface Schedstat {
  readonly cpuUs: number;
  /** Ready to run, and waiting for a CPU. */
  readonly runDelayUs: number;
}

/** `/proc/<pid>/task/<tid>/schedstat`: time on a CPU and time waiting for one, in ns, and a count of turns. */
export function parseSchedstat(text: string): Schedstat | undefined {
  const match = /^(\d+) (\d+) \d+\s*$/.exec(text);
  if (match === null) return undefined;
  const cpuUs = Number(match[1]) / 1_000;
  // A kernel without the accounting has the file and fills it with zeros.
  return cpuUs > 0 ? { cpuUs, runDelayUs: Number(match[2]) / 1_000 } : undefined;
}

/** `nonvoluntary_ctxt_switches` of `/proc/<pid>/task/<tid>/status`. */
export function parseSwitches(text: string): number | undefined {
  const match = /^nonvoluntary_ctxt_switches:\s+(\d+)$/m.exec(text);
  return match === null ? undefined : Number(match[1]);
}

/** CPU time of the whole machine since it started, in ticks. */
export interface MachineTicks {
  readonly all: number;
  readonly steal: number;
}

/**
 * First line of `/proc/stat`: user nice system idle iowait irq softirq steal guest guest_nice. Guest time is
 * part of user and nice already. Undefined where there is no such line, or no steal in it.
 */
export function parseMachineTicks(text: string): MachineTicks | undefined {
  const match = /^cpu +(\d+(?: \d+){7})(?: |$)/m.exec(text);
  if (match?.[1] === undefined) return undefined;
  const ticks = match[1].split(' ').map(Number);
  return { all: ticks.reduce((sum, count) => sum + count, 0), steal: ticks[7] ?? 0 };
}

/** Share of the time between two readings that the hypervisor gave to others; `UNKNOWN` without both. */
export function stealShareOf(before: MachineTicks | undefined, now: MachineTicks | undefined): number {
  if (before === undefined || now === undefined) return UNKNOWN;
  const all = now.all - before.all;
  // Less than a tick apart: nothing was stolen that can be seen.
  return all > 0 ? Math.min(Math.max((now.steal - before.steal) / all, 0), 1) : 0;
}
