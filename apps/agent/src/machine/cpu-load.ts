import { formatCounted } from '@broadside/shared';
import type { TextFiles } from './text-files.js';

/** Share of the time in which something waited for a CPU, from which on times are those of the queue. */
const PRESSURE_HIGH_PERCENT = 10;

/** What else keeps the CPUs of a machine busy. What the platform does not tell is absent. */
export interface CpuLoad {
  /** Programs that ran or wanted to, on average over the last minute (`/proc/loadavg`). */
  readonly loadAverage?: number;
  /** Percent of the last ten seconds in which at least one waited for a CPU (`/proc/pressure/cpu`). */
  readonly pressurePercent?: number;
}

export function readCpuLoad(files: TextFiles): CpuLoad {
  const average = /^(\d+(?:\.\d+)?) /.exec(files.read('/proc/loadavg') ?? '')?.[1];
  const pressure = /^some avg10=(\d+(?:\.\d+)?) /m.exec(files.read('/proc/pressure/cpu') ?? '')?.[1];
  return {
    ...(average === undefined ? {} : { loadAverage: Number(average) }),
    ...(pressure === undefined ? {} : { pressurePercent: Number(pressure) }),
  };
}

/** One sentence when a load that began now would have to share the CPUs; undefined while they are free. */
export function busyMachineWarning(
  { loadAverage = 0, pressurePercent = 0 }: CpuLoad,
  cpus: number,
): string | undefined {
  const isLoaded = loadAverage >= cpus;
  const isPressed = pressurePercent >= PRESSURE_HIGH_PERCENT;
  if (!isLoaded && !isPressed) return undefined;
  const seen = [
    ...(isLoaded ? [`a load average of ${loadAverage} on ${formatCounted(cpus, 'CPU')}`] : []),
    ...(isPressed
      ? [`programs waited for a CPU ${Math.round(pressurePercent)} % of the last ten seconds`]
      : []),
  ];
  return (
    `this machine is busy: ${seen.join(', ')}; a load would share the CPUs with what runs here, and its ` +
    'numbers would be of both: stop the rest, or wait until it has ended'
  );
}
