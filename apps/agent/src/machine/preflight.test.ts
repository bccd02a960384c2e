import type { Machine } from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import { type LoadShare, preflight } from './preflight.js';

const machine: Machine = {
  hostname: 'load-1',
  cpus: 4,
  cpuModel: 'test',
  memoryBytes: 8 * 2 ** 30,
  memoryAvailableBytes: 6 * 2 ** 30,
  os: 'Linux 6.8',
  arch: 'x64',
  node: 'v20.20.2',
  descriptorLimit: 20_000,
  descriptorsOpen: 100,
  sysctls: {
    'net.ipv4.ip_local_port_range': '32768 60999',
    'net.ipv4.tcp_tw_reuse': '2',
    'net.core.somaxconn': '4096',
  },
};

const share: LoadShare = {
  connections: 100,
  keepAlive: true,
  durationMs: 10_000,
  portSources: 1,
  slots: 2,
  sharesMachine: false,
};

const NOTHING = { refusals: [], warnings: [], remarks: [] };

describe('preflight', () => {
  it('finds nothing where there is plenty of everything', () => {
    expect(preflight(machine, share)).toEqual(NOTHING);
    expect(preflight(machine)).toEqual(NOTHING);
  });

  it('finds nothing of what the platform does not tell', () => {
    const { hostname, cpus, cpuModel, memoryBytes, os, arch, node } = machine;
    const bare = { hostname, cpus, cpuModel, memoryBytes, os, arch, node };
    expect(preflight(bare, { ...share, connections: 100_000, keepAlive: false })).toEqual(NOTHING);
  });

  it('refuses connections for which there are no descriptors, and warns just below', () => {
    const refused = preflight(machine, { ...share, connections: 19_901 });
    expect(refused.refusals).toEqual([
      '19,901 connections need 20,033 file descriptors and this process may open 20,000: ' +
        'raise `ulimit -n`, lower the connections (-c), or add agents',
    ]);
    const warned = preflight(machine, { ...share, connections: 19_900 });
    expect(warned.refusals).toEqual([]);
    expect(warned.warnings).toEqual([expect.stringContaining('`ulimit -n` to 20,032 or more')]);
  });

  it('refuses connections for which there are no local ports, and warns just below', () => {
    const roomy = { ...machine, descriptorLimit: 1_000_000 };
    const refused = preflight(roomy, { ...share, connections: 28_233 });
    expect(refused.refusals).toEqual([
      '28,233 connections need as many local ports and this machine has 28,232 for one target ' +
        '(net.ipv4.ip_local_port_range is 32768 to 60999): widen the range, lower the connections (-c), ' +
        'or add agents',
    ]);
    const warned = preflight(roomy, { ...share, connections: 28_232 });
    expect(warned.refusals).toEqual([]);
    expect(warned.warnings).toEqual([expect.stringContaining('more than 90 % of the 28,232 local ports')]);
  });

  it('counts the ports of each local address, and none for a Unix socket', () => {
    const roomy = { ...machine, descriptorLimit: 1_000_000 };
    const many = { ...share, connections: 40_000 };
    expect(preflight(roomy, many).refusals).toHaveLength(1);
    expect(preflight(roomy, { ...many, portSources: 2 })).toEqual(NOTHING);
    expect(preflight(roomy, { ...many, portSources: 0 })).toEqual(NOTHING);
  });

  describe('without keep-alive', () => {
    const shortLived = { ...share, keepAlive: false };
    const warns = (given: Partial<LoadShare>, reuse = '2'): boolean =>
      preflight(
        { ...machine, sysctls: { ...machine.sysctls, 'net.ipv4.tcp_tw_reuse': reuse } },
        { ...shortLived, ...given },
      ).warnings.some((warning) => warning.includes('without keep-alive'));

    it('warns when one minute may use up the ports', () => {
      expect(warns({})).toBe(true);
      expect(warns({ durationMs: undefined, requests: 28_233 })).toBe(true);
      expect(warns({ durationMs: undefined, requests: 28_232 })).toBe(false);
      expect(warns({ durationMs: 60_000, rateHz: 471 })).toBe(true);
      expect(warns({ durationMs: 60_000, rateHz: 470 })).toBe(false);
      expect(warns({ durationMs: 10_000, rateHz: 2_000 })).toBe(false);
    });

    it('does not warn where the kernel takes ports back after a second', () => {
      expect(warns({}, '1')).toBe(false);
      expect(warns({ sharesMachine: true }, '2')).toBe(false);
      expect(warns({ sharesMachine: true }, '0')).toBe(true);
    });
  });

  it('warns of the accept queue of a target on this machine only', () => {
    const many = { ...share, connections: 5_000 };
    expect(preflight(machine, many)).toEqual(NOTHING);
    const { warnings, remarks } = preflight(machine, { ...many, sharesMachine: true });
    expect(warnings).toEqual([expect.stringContaining('4,096 (net.core.somaxconn)')]);
    expect(remarks).toEqual([expect.stringContaining('client and target share this machine (4 CPUs)')]);
  });

  it('warns of a CPU quota below the slots, and of more slots than CPUs', () => {
    const limited = { ...machine, cgroup: { version: 2 as const, cpuQuota: 1.5 } };
    expect(preflight(limited, share).warnings).toEqual([
      expect.stringContaining('the control group allows 1.5 CPUs and 2 slots want as many'),
    ]);
    expect(preflight(limited, { ...share, slots: 1 }).warnings).toEqual([]);
    expect(preflight(machine, { ...share, slots: 5 }).warnings).toEqual([
      expect.stringContaining('5 slots share 4 CPUs: they take time from each other; lower the slots to 4'),
    ]);
    expect(preflight(machine, { ...share, slots: 5, sharesMachine: true }).warnings).toEqual([
      expect.stringContaining('each other and from the target; lower the slots to 2'),
    ]);
  });

  it('warns of too little memory, whether of the machine or of the control group', () => {
    const many = { ...share, connections: 10_000 };
    const small = { ...machine, memoryAvailableBytes: 256 * 2 ** 20 };
    const limited = { ...machine, cgroup: { version: 2 as const, memoryBytes: 256 * 2 ** 20 } };
    for (const each of [small, limited]) {
      expect(preflight(each, many).warnings).toEqual([expect.stringContaining('256MiB are free')]);
    }
    expect(preflight(machine, many)).toEqual(NOTHING);
  });

  it('warns of a governor that changes the frequency, and remarks on mitigations', () => {
    const laptop = {
      ...machine,
      governor: 'powersave',
      mitigations: [
        { name: 'meltdown', state: 'Not affected' },
        { name: 'retbleed', state: 'Vulnerable' },
        { name: 'spectre_v2', state: 'Mitigation: Retpolines' },
      ],
    };
    const { warnings, remarks } = preflight(laptop, share);
    expect(warnings).toEqual([expect.stringContaining('the CPU governor is "powersave"')]);
    expect(remarks).toEqual([
      'CPU mitigations are on, each system call costs more: spectre_v2',
      'CPU vulnerabilities without mitigation: retbleed',
    ]);
    expect(preflight({ ...machine, governor: 'performance' })).toEqual(NOTHING);
  });

  it('says each thing in one line that a message can carry', () => {
    const worst = preflight(
      { ...machine, governor: 'x'.repeat(100), memoryAvailableBytes: 1, descriptorLimit: 10 },
      { ...share, connections: 1_000_000, keepAlive: false, slots: 1_024, sharesMachine: true },
    );
    for (const line of [...worst.refusals, ...worst.warnings]) {
      expect(line.length).toBeLessThanOrEqual(500);
      expect(line).not.toContain('\n');
    }
  });
});
