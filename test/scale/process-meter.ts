// What a process costs, read from /proc: CPU of each of its threads, and its resident memory over time.

import { readdir, readFile } from 'node:fs/promises';

/** Linux counts CPU time in ticks of 10 ms wherever Node runs. */
const TICK_MS = 10;

export interface CpuReading {
  readonly atMs: number;
  /** CPU time of the whole process so far, in ms. */
  readonly totalMs: number;
  /** The same of each thread, by id and name. */
  readonly threads: ReadonlyMap<string, number>;
}

export interface MemoryReading {
  readonly atMs: number;
  readonly residentBytes: number;
}

export async function readCpu(pid: number): Promise<CpuReading> {
  const threads = new Map<string, number>();
  for (const id of await readdir(`/proc/${pid}/task`)) {
    const { name, cpuMs } = await readStat(`/proc/${pid}/task/${id}/stat`);
    threads.set(`${id} ${name}`, cpuMs);
  }
  const { cpuMs: totalMs } = await readStat(`/proc/${pid}/stat`);
  return { atMs: performance.now(), totalMs, threads };
}

export async function readMemory(pid: number): Promise<MemoryReading> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  if (kibibytes === undefined) throw new Error(`process ${pid} has no resident memory`);
  return { atMs: performance.now(), residentBytes: Number(kibibytes) * 1_024 };
}

/** Share of one core between two readings: 1 is a whole core. */
export function cpuShareOf(before: CpuReading, after: CpuReading): number {
  return (after.totalMs - before.totalMs) / (after.atMs - before.atMs);
}

/** The same of each thread, busiest first, those below 0.5 % left out. */
export function threadSharesOf(before: CpuReading, after: CpuReading): [name: string, share: number][] {
  const elapsedMs = after.atMs - before.atMs;
  return [...after.threads]
    .map(([name, ms]): [string, number] => [name, (ms - (before.threads.get(name) ?? 0)) / elapsedMs])
    .filter(([, share]) => share >= 0.005)
    .toSorted(([, a], [, b]) => b - a);
}

/** Growth of the resident memory in bytes per minute, by least squares. */
export function growthOf(readings: readonly MemoryReading[]): number {
  const meanMs = mean(readings.map(({ atMs }) => atMs));
  const meanBytes = mean(readings.map(({ residentBytes }) => residentBytes));
  let [above, below] = [0, 0];
  for (const { atMs, residentBytes } of readings) {
    above += (atMs - meanMs) * (residentBytes - meanBytes);
    below += (atMs - meanMs) ** 2;
  }
  return below === 0 ? 0 : (above / below) * 60_000;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1);
}

async function readStat(path: string): Promise<{ name: string; cpuMs: number }> {
  const text = await readFile(path, 'utf8');
  // The name stands in brackets and may hold anything, brackets too.
  const [opening, closing] = [text.indexOf('('), text.lastIndexOf(')')];
  const fields = text.slice(closing + 2).split(' ');
  // Fields 14 and 15 of proc(5): user and system time; the third field is the first behind the name.
  const cpuMs = (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  return { name: text.slice(opening + 1, closing), cpuMs };
}
