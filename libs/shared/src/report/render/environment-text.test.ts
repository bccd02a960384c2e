import { describe, expect, it } from 'vitest';
import { sampleAgent, sampleReport } from '../../testing/observed.js';
import type { Machine } from '../../wire/machine.schema.js';
import { environmentRows, machineLines } from './environment-text.js';

/** The machine of the seed reports. */
const desktop: Machine = {
  hostname: 'desktop',
  cpus: 32,
  cores: 24,
  cpuModel: 'Intel Core i9-13900K',
  frequencyMhz: 5_500,
  governor: 'performance',
  mitigations: [
    { name: 'meltdown', state: 'Not affected' },
    { name: 'spectre_v2', state: 'Mitigation: Enhanced IBRS' },
  ],
  memoryBytes: 192 * 2 ** 30,
  memoryAvailableBytes: 180 * 2 ** 30,
  os: 'Linux 6.8.0',
  distribution: 'Ubuntu 24.04 LTS',
  arch: 'x64',
  node: 'v20.20.2',
  descriptorLimit: 1_048_576,
  descriptorsOpen: 21,
  sysctls: { 'net.core.somaxconn': '4096' },
  cgroup: { version: 2 },
  container: 'none',
  linkMbps: 2_500,
};

const { machine: bare } = sampleAgent('a1');

describe('environmentRows', () => {
  it('tells what the seed reports tell, and what they leave out', () => {
    expect(environmentRows(desktop, { broadside: '0.1.0', transport: 'epoll' })).toEqual([
      ['CPU', 'Intel Core i9-13900K @ 5.5 GHz, 24 cores, 32 CPUs, governor "performance"'],
      ['CPU security patches', 'all ON (spectre_v2)'],
      ['RAM', '192GiB, 180GiB available'],
      ['OS', 'Ubuntu 24.04 LTS, Linux 6.8.0, x64'],
      ['File descriptors', '1,048,576, 21 open'],
      ['Control group', 'version 2, no CPU limit, no memory limit'],
      ['Network', 'link of 2,500 Mbit/s'],
      ['net.core.somaxconn', '4096'],
      ['Versions', 'Broadside 0.1.0, Node v20.20.2, transport epoll'],
    ]);
  });

  it('says that it does not know what the platform does not tell', () => {
    const rows = Object.fromEntries(environmentRows(bare, { broadside: '0.1.0' }));
    expect(rows).toMatchObject({
      CPU: 'test, 2 CPUs, governor unknown',
      'CPU security patches': 'unknown',
      'File descriptors': 'limit unknown',
      'Control group': 'unknown',
      Network: 'link speed unknown',
    });
  });

  it('names vulnerabilities that are open, the container and the limits of the control group', () => {
    const rows = environmentRows(
      {
        ...desktop,
        mitigations: [...(desktop.mitigations ?? []), { name: 'retbleed', state: 'Vulnerable' }],
        container: 'docker',
        cgroup: { version: 2, cpuQuota: 1.5, memoryBytes: 2 ** 29 },
      },
      { broadside: '0.1.0' },
    );
    expect(Object.fromEntries(rows)).toMatchObject({
      'CPU security patches': 'ON: spectre_v2; OFF: retbleed; 1 not affected',
      OS: 'Ubuntu 24.04 LTS, Linux 6.8.0, x64, in a container (docker)',
      'Control group': 'version 2, 1.5 CPUs, 512MiB of memory',
    });
  });

  it('lets no control character of a file through to the terminal', () => {
    const [cpu] = environmentRows({ ...desktop, cpuModel: 'x\u001b[2J' }, { broadside: '0.1.0' });
    expect(cpu?.[1]).toContain('x?[2J');
  });
});

describe('machineLines', () => {
  const shard = { attempt: 1, connections: 1 };

  it('tells machines of one kind in one line', () => {
    const agents = ['a1', 'a2', 'a3', 'a4', 'idle'].map(sampleAgent);
    const shards = ['a1', 'a2', 'a3', 'a4'].map((agentId, shardIndex) => ({
      ...shard,
      shardIndex,
      agentId,
      transport: 'epoll',
    }));
    expect(machineLines(sampleReport({ input: { agents, shards } }))).toEqual([
      'a1, a2, a3 and 1 more: test, 2 CPUs, 954MiB RAM, Linux, Node v20.20.2, transport epoll',
    ]);
  });

  it('says that the target was on a load machine', () => {
    const shards = [{ ...shard, shardIndex: 0, agentId: 'a1', sharesMachine: true }];
    expect(machineLines(sampleReport({ input: { shards } })).at(-1)).toBe(
      'client and target share a machine: each takes CPU time from the other',
    );
  });
});
