import { describe, expect, it } from 'vitest';
import { tableFiles } from '../testing/table-files.js';
import { cgroupLimits, parseCpuMax } from './cgroup-limits.js';

describe('cgroupLimits', () => {
  it('reads version 2 as a container sees it: the own group is the root', () => {
    const files = tableFiles({
      '/proc/self/cgroup': '0::/\n',
      '/sys/fs/cgroup/cgroup.controllers': 'cpu memory\n',
      '/sys/fs/cgroup/cpu.max': '150000 100000\n',
      '/sys/fs/cgroup/memory.max': '536870912\n',
    });
    expect(cgroupLimits(files)).toEqual({ version: 2, cpuQuota: 1.5, memoryBytes: 536_870_912 });
  });

  it('takes the smallest limit of a group and those above it', () => {
    const files = tableFiles({
      '/proc/self/cgroup': '0::/user.slice/run.scope\n',
      '/sys/fs/cgroup/cgroup.controllers': '',
      '/sys/fs/cgroup/user.slice/cpu.max': '200000 100000\n',
      '/sys/fs/cgroup/user.slice/run.scope/cpu.max': '400000 100000\n',
      '/sys/fs/cgroup/user.slice/memory.max': 'max\n',
      '/sys/fs/cgroup/user.slice/run.scope/memory.max': '1000\n',
    });
    expect(cgroupLimits(files)).toEqual({ version: 2, cpuQuota: 2, memoryBytes: 1_000 });
  });

  it('reads version 1, whose controllers have trees of their own', () => {
    const files = tableFiles({
      '/proc/self/cgroup': '9:name=systemd:/\n4:memory:/a:b\n2:cpu,cpuacct:/c\n0::/\n',
      '/sys/fs/cgroup/cpu/c/cpu.cfs_quota_us': '50000\n',
      '/sys/fs/cgroup/cpu/c/cpu.cfs_period_us': '100000\n',
      '/sys/fs/cgroup/memory/a:b/memory.limit_in_bytes': '2048\n',
      '/sys/fs/cgroup/memory/memory.limit_in_bytes': '9223372036854771712\n',
    });
    expect(cgroupLimits(files)).toEqual({ version: 1, cpuQuota: 0.5, memoryBytes: 2_048 });
  });

  it('knows of no limit where there is none, and of no version without control groups', () => {
    const files = {
      '/proc/self/cgroup': '2:cpu:/\n',
      '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '-1\n',
      '/sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n',
    };
    expect(cgroupLimits(tableFiles(files))).toEqual({ version: 1 });
    expect(cgroupLimits(tableFiles({}))).toBeUndefined();
  });

  it('does not leave the visible tree for a group outside of it', () => {
    const files = tableFiles({
      '/proc/self/cgroup': '0::/../../other\n',
      '/sys/fs/cgroup/cgroup.controllers': '',
      '/sys/fs/cgroup/cpu.max': '100000 100000',
    });
    expect(cgroupLimits(files)).toEqual({ version: 2, cpuQuota: 1 });
  });
});

describe('parseCpuMax', () => {
  it.each([
    ['max 100000\n', undefined],
    ['200000 100000\n', 2],
    ['50000', 0.5],
    ['', undefined],
    ['0 0', undefined],
    [undefined, undefined],
  ])('of %j is %j', (text, expected) => {
    expect(parseCpuMax(text)).toBe(expected);
  });
});
