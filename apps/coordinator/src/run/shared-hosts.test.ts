import type { Machine } from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import { type HostPart, sharedHostWarnings } from './shared-hosts.js';

const machine: Machine = {
  hostname: 'h1',
  cpus: 4,
  cpuModel: 'c',
  memoryBytes: 8e9,
  os: 'o',
  arch: 'a',
  node: 'n',
  memoryAvailableBytes: 4e9,
  sysctls: { 'net.ipv4.ip_local_port_range': '32768\t60999' },
};
const part = (name: string, more: Partial<HostPart> = {}): HostPart => ({
  name,
  machine,
  slots: 2,
  connections: 100,
  ...more,
});

describe('agents on one machine', () => {
  it('are nothing to warn of while there is enough for all', () => {
    expect(sharedHostWarnings([part('a'), part('b')])).toEqual([]);
  });

  it('are told when they want more CPUs, ports or memory together', () => {
    expect(sharedHostWarnings([part('a', { slots: 3 }), part('b')])).toEqual([
      'a, b: share the machine h1, and want together 5 slots on 4 CPUs',
    ]);
    expect(
      sharedHostWarnings([part('a', { connections: 20_000 }), part('b', { connections: 20_000 })]),
    ).toEqual(['a, b: share the machine h1, and want together 40000 connections with 28232 local ports']);
    const tight = { ...machine, memoryAvailableBytes: 200e6 };
    expect(sharedHostWarnings([part('a', { machine: tight }), part('b', { machine: tight })])).toEqual([
      'a, b: share the machine h1, and want together more memory than is free',
    ]);
  });

  it('are not told again what one of them has told by itself', () => {
    expect(sharedHostWarnings([part('a', { slots: 5 }), part('b')])).toEqual([]);
  });

  it('are only those of one machine', () => {
    const other = { ...machine, hostname: 'h2' };
    expect(sharedHostWarnings([part('a', { slots: 4 }), part('b', { slots: 4, machine: other })])).toEqual(
      [],
    );
    expect(sharedHostWarnings([])).toEqual([]);
  });

  it('are named a few by name, when they are many', () => {
    const many = Array.from({ length: 6 }, (_, i) => part(`a${i}`, { slots: 1 }));
    expect(sharedHostWarnings(many)).toEqual([
      'a0, a1, a2, a3 and 2 more: share the machine h1, and want together 6 slots on 4 CPUs',
    ]);
  });
});
