/**
 * CPU and memory limits of the control group that this process is in. Version 2 has one tree, version 1 one
 * for each controller; in a container the own group is usually mounted as the root of what can be seen, so
 * that a path from `/proc/self/cgroup` may not exist and the root is looked at instead. The limits of all
 * groups above hold too: the smallest counts.
 */
import type { TextFiles } from './text-files.js';

export interface CgroupLimits {
  readonly version: 1 | 2;
  /** CPUs on average; absent when it is not limited. */
  readonly cpuQuota?: number;
  readonly memoryBytes?: number;
}

/** From this size on version 1 means "no limit" (the largest page-aligned 63-bit number). */
const UNLIMITED_BYTES = 2 ** 62;
const ROOT = '/sys/fs/cgroup';

/** Undefined where there are no control groups. */
export function cgroupLimits(files: TextFiles): CgroupLimits | undefined {
  const membership = files.read('/proc/self/cgroup');
  if (membership === undefined) return undefined;
  const paths = pathsOf(membership);
  const isUnified = files.read(`${ROOT}/cgroup.controllers`) !== undefined;
  const version = isUnified ? 2 : 1;
  const cpu = isUnified ? groupsOf(ROOT, paths.get('')) : groupsOf(`${ROOT}/cpu`, paths.get('cpu'));
  const memory = isUnified ? groupsOf(ROOT, paths.get('')) : groupsOf(`${ROOT}/memory`, paths.get('memory'));
  const cpuQuota = smallest(
    cpu.map((group) => (isUnified ? parseCpuMax(files.read(`${group}/cpu.max`)) : quotaOf(files, group))),
  );
  const memoryName = isUnified ? 'memory.max' : 'memory.limit_in_bytes';
  const memoryBytes = smallest(memory.map((group) => parseBytes(files.read(`${group}/${memoryName}`))));
  return {
    version,
    ...(cpuQuota === undefined ? {} : { cpuQuota }),
    ...(memoryBytes === undefined ? {} : { memoryBytes }),
  };
}

/** `/proc/self/cgroup`: lines `id:controllers:path`; version 2 is the line without controllers. */
function pathsOf(membership: string): Map<string, string> {
  const paths = new Map<string, string>();
  for (const line of membership.split('\n')) {
    const [, controllers, ...path] = line.split(':');
    if (controllers === undefined || path.length === 0) continue;
    for (const controller of controllers.split(',')) paths.set(controller, path.join(':'));
  }
  return paths;
}

/** The folders of a group and of all groups above it, the mounted root included. */
function groupsOf(root: string, path = '/'): string[] {
  const groups = [root];
  let group = root;
  for (const part of path.split('/')) {
    // A path out of the visible tree begins with `/..`; its limits cannot be read.
    if (part === '' || part === '..') continue;
    group = `${group}/${part}`;
    groups.push(group);
  }
  return groups;
}

/** `cpu.max` of version 2: `<quota> <period>` in µs, or `max <period>`. */
export function parseCpuMax(text: string | undefined): number | undefined {
  const [quota, period = '100000'] = (text ?? '').trim().split(/\s+/);
  return shareOf(Number(quota), Number(period));
}

/** Version 1: quota in µs, −1 for none, and period. */
function quotaOf(files: TextFiles, group: string): number | undefined {
  const quota = files.read(`${group}/cpu.cfs_quota_us`);
  const period = files.read(`${group}/cpu.cfs_period_us`);
  return quota === undefined || period === undefined ? undefined : shareOf(Number(quota), Number(period));
}

function shareOf(quotaUs: number, periodUs: number): number | undefined {
  const share = quotaUs / periodUs;
  return quotaUs > 0 && periodUs > 0 && Number.isFinite(share) ? share : undefined;
}

/** `max`, and what version 1 says instead of it, is no limit. */
function parseBytes(text: string | undefined): number | undefined {
  const bytes = Number(text);
  return text !== undefined && text.trim() !== '' && bytes < UNLIMITED_BYTES ? bytes : undefined;
}

function smallest(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
