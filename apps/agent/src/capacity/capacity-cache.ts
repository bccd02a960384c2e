/** What was measured before on this machine, in a small file, so that an agent that is restarted is there at once. */
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { capacityFileSchema, type Machine } from '@broadside/shared';

/** Machines and settings that one file keeps; a home directory may be shared by many. */
const MAX_ENTRIES = 64;
const MAX_FILE_BYTES = 65_536;

/** Where it is unless told: the folder for such files (XDG base directories), or `.cache` at home. */
export function capacityCacheFile(environment: Readonly<Record<string, string | undefined>>): string {
  const folder = environment['XDG_CACHE_HOME'];
  // A relative one is to be ignored (XDG base directory specification, 0.8).
  const base = folder !== undefined && isAbsolute(folder) ? folder : join(homedir(), '.cache');
  return join(base, 'broadside', 'capacity.json');
}

/** Everything that another capacity follows from. */
export function capacityKey(
  machine: Pick<Machine, 'cpuModel' | 'cpus' | 'node' | 'arch' | 'cgroup' | 'os'>,
  settings: { readonly slots: number; readonly transport: string; readonly version: string },
): string {
  const { cpuModel, cpus, node, arch, os, cgroup } = machine;
  const { slots, transport, version } = settings;
  return [cpuModel, cpus, cgroup?.cpuQuota ?? 'all', arch, os, node, version, transport, slots].join(' | ');
}

/** @returns undefined where nothing is kept of it, or the file is none of ours. */
export async function readCapacity(file: string, key: string): Promise<number | undefined> {
  return (await readEntries(file))[key];
}

/** Adds an entry; the file is replaced as a whole, so that agents that start together never see half of one. */
export async function writeCapacity(file: string, key: string, capacityHz: number): Promise<void> {
  const { [key]: _before, ...others } = await readEntries(file);
  const kept = Object.entries(others).slice(1 - MAX_ENTRIES);
  const entries = Object.fromEntries([...kept, [key, capacityHz]]);
  const text = JSON.stringify({ format: 'broadside-capacity', entries }, undefined, 1);
  await mkdir(dirname(file), { recursive: true });
  const half = `${file}.${randomUUID()}`;
  await writeFile(half, `${text}\n`, { mode: 0o600 });
  await rename(half, file);
}

async function readEntries(file: string): Promise<Record<string, number>> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch {
    // There is none yet, or it may not be read: then it is measured again.
    return {};
  }
  if (text.length > MAX_FILE_BYTES) return {};
  try {
    const parsed = capacityFileSchema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data.entries : {};
  } catch {
    // Not JSON; the next measurement replaces it.
    return {};
  }
}
