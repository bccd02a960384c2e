/**
 * What an engine thread reads of itself once per interval: CPU time, time without a CPU, pauses, descriptors.
 * None of it needs the thread's event loop, which a transport may block for the whole run.
 */
import { readFileSync, statSync } from 'node:fs';
import { GCProfiler } from 'node:v8';
import { UNKNOWN } from '@broadside/shared/engine';
import { parseMachineTicks, parseSchedstat, parseSwitches, stealShareOf } from './proc-readings.js';

/** Since the reading before; `UNKNOWN` where the platform does not tell. */
export interface SelfReadings {
  /** CPU time of the thread; of the whole process where there is no figure per thread. */
  readonly cpuUs: number;
  /** Whether the CPU time is that of the thread. */
  readonly isOfThread: boolean;
  readonly runDelayUs: number;
  readonly stealShare: number;
  readonly involuntarySwitches: number;
  readonly gcPauseUs: number;
  /** At this moment. */
  readonly descriptors: number;
}

/** Reads what the calling thread has used since the call before. The first call sets the beginning. */
export class SelfReader {
  readonly #profiler = new GCProfiler();
  #isProfiling = false;
  #cpuUs = 0;
  #runDelayUs = UNKNOWN;
  #ticks = parseMachineTicks('');
  #switches = UNKNOWN;

  read(): SelfReadings {
    const schedstat = parseSchedstat(readText('/proc/thread-self/schedstat'));
    const cpuUs = schedstat?.cpuUs ?? processCpuUs();
    const runDelayUs = schedstat?.runDelayUs ?? UNKNOWN;
    const ticks = parseMachineTicks(readText('/proc/stat'));
    const switches = parseSwitches(readText('/proc/thread-self/status')) ?? UNKNOWN;
    const readings = {
      cpuUs: Math.max(cpuUs - this.#cpuUs, 0),
      isOfThread: schedstat !== undefined,
      runDelayUs: since(this.#runDelayUs, runDelayUs),
      stealShare: stealShareOf(this.#ticks, ticks),
      involuntarySwitches: since(this.#switches, switches),
      gcPauseUs: this.#takeGcPauseUs(),
      descriptors: openDescriptors(),
    };
    this.#cpuUs = cpuUs;
    this.#runDelayUs = runDelayUs;
    this.#ticks = ticks;
    this.#switches = switches;
    return readings;
  }

  /** Ends what costs something between two readings. */
  end(): void {
    if (this.#isProfiling) this.#profiler.stop();
    this.#isProfiling = false;
  }

  /** V8 sums the pauses up by itself; stopping takes its list, which is empty in an interval without one. */
  #takeGcPauseUs(): number {
    let pauseUs = 0;
    if (this.#isProfiling) for (const { cost } of this.#profiler.stop().statistics) pauseUs += cost;
    this.#profiler.start();
    this.#isProfiling = true;
    return pauseUs;
  }
}

/** Both are counters that only grow; one that is not known now or was not before gives no difference. */
function since(before: number, now: number): number {
  return before === UNKNOWN || now === UNKNOWN ? UNKNOWN : Math.max(now - before, 0);
}

function processCpuUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** Linux ≥ 6.2 gives the folder the number of descriptors as its size; older kernels say 0. */
function openDescriptors(): number {
  if (process.platform !== 'linux') return UNKNOWN;
  try {
    const { size } = statSync('/proc/self/fd');
    return size > 0 ? size : UNKNOWN;
  } catch {
    return UNKNOWN;
  }
}

/** Empty where there is no such file: another platform, a kernel without it, a container that hides it. */
function readText(path: string): string {
  if (process.platform !== 'linux') return '';
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
