import { machineSchema } from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import { tableFiles } from '../testing/table-files.js';
import { describeMachine, type SystemFacts } from './describe-machine.js';

const system: SystemFacts = {
  hostname: 'load-1',
  cpus: 4,
  cpuModel: 'from node:os',
  memoryBytes: 1_000,
  os: 'Linux 6.8.0',
  arch: 'x64',
  node: 'v20.20.2',
  isKubernetes: false,
};

/** The machine of the seed reports, as far as files tell. */
const desktop: Record<string, string> = {
  '/proc/cpuinfo': [0, 1]
    .map((cpu) => `processor: ${cpu}\nmodel name: Intel(R) Core(TM) i9-13900K\ncore id: ${cpu}\n`)
    .join('\n'),
  '/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq': '5500000\n',
  '/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor': 'performance\n',
  '/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor': 'performance\n',
  '/sys/devices/system/cpu/cpufreq/policy0/scaling_governor': 'ignored\n',
  '/sys/devices/system/cpu/vulnerabilities/meltdown': 'Not affected\n',
  '/sys/devices/system/cpu/vulnerabilities/spectre_v2': 'Mitigation: Enhanced IBRS\n',
  '/proc/meminfo': 'MemTotal:  197000000 kB\nMemAvailable: 190000000 kB\n',
  '/etc/os-release': 'PRETTY_NAME="Ubuntu 24.04 LTS"\n',
  '/proc/self/limits': 'Max open files            1048576              1048576              files\n',
  '/proc/self/fd/0': '',
  '/proc/self/fd/1': '',
  '/proc/self/fd/3': '',
  '/proc/sys/net/ipv4/ip_local_port_range': '32768\t60999\n',
  '/proc/sys/net/core/somaxconn': '4096\n',
  '/proc/self/cgroup': '0::/user.slice\n',
  '/proc/1/cgroup': '0::/init.scope\n',
  '/sys/fs/cgroup/cgroup.controllers': 'cpu memory',
  '/proc/net/route': 'Iface\tDestination\neth0\t00000000\t0\t3\t0\t0\t100\t00000000\t0\t0\t0\n',
  '/sys/class/net/eth0/speed': '2500\n',
};

describe('describeMachine', () => {
  it('tells everything that the files of Linux tell, within the bounds of the wire', () => {
    const machine = describeMachine(tableFiles(desktop), system);
    expect(machine).toEqual({
      hostname: 'load-1',
      cpus: 4,
      cpuModel: 'Intel(R) Core(TM) i9-13900K',
      memoryBytes: 197_000_000 * 1_024,
      os: 'Linux 6.8.0',
      arch: 'x64',
      node: 'v20.20.2',
      cores: 2,
      frequencyMhz: 5_500,
      governor: 'performance',
      mitigations: [
        { name: 'meltdown', state: 'Not affected' },
        { name: 'spectre_v2', state: 'Mitigation: Enhanced IBRS' },
      ],
      distribution: 'Ubuntu 24.04 LTS',
      memoryAvailableBytes: 190_000_000 * 1_024,
      descriptorLimit: 1_048_576,
      descriptorsOpen: 2,
      sysctls: { 'net.ipv4.ip_local_port_range': '32768 60999', 'net.core.somaxconn': '4096' },
      cgroup: { version: 2 },
      container: 'none',
      linkMbps: 2_500,
    });
    expect(machineSchema.parse(machine)).toEqual(machine);
  });

  it('names all governors where the processors differ', () => {
    const mixed = { ...desktop, '/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor': 'powersave\n' };
    expect(describeMachine(tableFiles(mixed), system).governor).toBe('performance,powersave');
  });

  it('gives what node:os gives where there are no such files', () => {
    expect(describeMachine(tableFiles({}), system)).toEqual({
      hostname: 'load-1',
      cpus: 4,
      cpuModel: 'from node:os',
      memoryBytes: 1_000,
      os: 'Linux 6.8.0',
      arch: 'x64',
      node: 'v20.20.2',
    });
  });

  it('stays within the bounds of the wire whatever the files hold', () => {
    const long = 'x'.repeat(100_000);
    const hostile = Object.fromEntries(
      Object.keys(desktop).map((path) => [path, `PRETTY_NAME=${long}\nmodel name: ${long}\n${long}`]),
    );
    for (let i = 0; i < 200; i++) hostile[`/sys/devices/system/cpu/vulnerabilities/v${i}`] = long;
    const machine = describeMachine(tableFiles(hostile), { ...system, hostname: long, os: long });
    expect(machineSchema.safeParse(machine).error).toBeUndefined();
    expect(JSON.stringify(machine).length).toBeLessThan(32_768);
  });

  it('describes this very machine', () => {
    const machine = describeMachine();
    expect(machineSchema.parse(machine)).toEqual(machine);
    expect(machine.hostname).not.toBe('');
  });
});
