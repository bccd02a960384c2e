import { describe, expect, it } from 'vitest';
import {
  containerKindOf,
  parseCpuInfo,
  parseDefaultInterface,
  parseDescriptorLimits,
  parseDistribution,
  parseMemoryBytes,
  parsePortRange,
} from './machine-texts.js';

const hyperThreaded = [0, 1, 2, 3]
  .map(
    (cpu) =>
      `processor\t: ${cpu}\nmodel name\t: Intel(R) Core(TM) i9-13900K\ncpu MHz\t\t: ${800 + cpu}.125\n` +
      `physical id\t: 0\ncore id\t\t: ${Math.floor(cpu / 2) * 4}\nflags\t\t: fpu vme : x\n`,
  )
  .join('\n');

describe('parseCpuInfo', () => {
  it('reads model, physical cores and the highest clock', () => {
    expect(parseCpuInfo(hyperThreaded)).toEqual({
      model: 'Intel(R) Core(TM) i9-13900K',
      cores: 2,
      mhz: 803.125,
    });
  });

  it('counts the same core number of two sockets twice', () => {
    const socket = (id: number) => `processor: ${id}\nphysical id: ${id}\ncore id: 0\n`;
    expect(parseCpuInfo(`${socket(0)}\n${socket(1)}`).cores).toBe(2);
  });

  it('knows nothing of a text that says nothing, as on ARM', () => {
    const nothing = { model: undefined, cores: undefined, mhz: undefined };
    expect(parseCpuInfo('processor\t: 0\nBogoMIPS\t: 243.75\nCPU part\t: 0xd0c\n')).toEqual(nothing);
    for (const text of ['', ':', 'model name', 'cpu MHz: fast\n', '\u0000\n\n\n']) {
      expect(parseCpuInfo(text)).toEqual(nothing);
    }
  });
});

describe('parseDescriptorLimits', () => {
  const limits = (soft: string, hard: string) =>
    `Limit                     Soft Limit           Hard Limit           Units     \n` +
    `Max processes             96365                96365                processes \n` +
    `Max open files            ${soft.padEnd(20)} ${hard.padEnd(20)} files     \n`;

  it('reads both limits', () => {
    expect(parseDescriptorLimits(limits('1024', '1048576'))).toEqual({ soft: 1_024, hard: 1_048_576 });
    expect(parseDescriptorLimits(limits('20000', 'unlimited'))).toEqual({
      soft: 20_000,
      hard: Number.POSITIVE_INFINITY,
    });
  });

  it('is unknown without that line', () => {
    expect(parseDescriptorLimits('Max processes 1 2 processes\n')).toBeUndefined();
    expect(parseDescriptorLimits('Max open files a b files\n')).toBeUndefined();
  });
});

describe('parseMemoryBytes', () => {
  it('reads one figure, and no other that begins like it', () => {
    const text = 'MemTotalX:  1 kB\nMemTotal:       24684084 kB\nMemAvailable:   22979160 kB\n';
    expect(parseMemoryBytes(text, 'MemTotal')).toBe(24_684_084 * 1_024);
    expect(parseMemoryBytes(text, 'MemAvailable')).toBe(22_979_160 * 1_024);
    expect(parseMemoryBytes(text, 'MemFree')).toBeUndefined();
  });
});

describe('parseDistribution', () => {
  it.each([
    ['PRETTY_NAME="Ubuntu 24.04.1 LTS"\nNAME="Ubuntu"\n', 'Ubuntu 24.04.1 LTS'],
    ["NAME='Alpine Linux'\nID=alpine\n", 'Alpine Linux'],
    ['NAME=Gentoo\n', 'Gentoo'],
    ['ID=x\n', undefined],
  ])('of %j is %j', (text, expected) => {
    expect(parseDistribution(text)).toBe(expected);
  });
});

describe('parsePortRange', () => {
  it.each([
    ['32768\t60999\n', { first: 32_768, last: 60_999 }],
    ['1024 65535', { first: 1_024, last: 65_535 }],
    ['60999 32768', undefined],
    ['1 70000', undefined],
    ['32768', undefined],
    [undefined, undefined],
  ])('of %j is %j', (text, expected) => {
    expect(parsePortRange(text)).toEqual(expected);
  });
});

describe('parseDefaultInterface', () => {
  const head = 'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n';

  it('takes the default route with the smallest metric', () => {
    const text =
      `${head}wlan0\t00000000\t010200C0\t0003\t0\t0\t600\t00000000\t0\t0\t0\n` +
      'eth0\t00000000\t010200C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n' +
      'eth1\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n';
    expect(parseDefaultInterface(text)).toBe('eth0');
  });

  it('is unknown without one', () => {
    expect(parseDefaultInterface(head)).toBeUndefined();
    expect(parseDefaultInterface('')).toBeUndefined();
  });
});

describe('containerKindOf', () => {
  const bare = {
    environment: undefined,
    hasDockerMark: false,
    hasPodmanMark: false,
    cgroup: '0::/init.scope\n',
    isKubernetes: false,
  };
  it.each([
    [{}, 'none'],
    [{ hasDockerMark: true }, 'docker'],
    [{ hasPodmanMark: true }, 'podman'],
    [{ environment: 'systemd-nspawn' }, 'systemd-nspawn'],
    [{ cgroup: '12:cpu:/kubepods/burstable/pod1\n' }, 'kubernetes'],
    [{ isKubernetes: true, hasDockerMark: true }, 'kubernetes'],
    [{ cgroup: '4:memory:/docker/43bc\n' }, 'docker'],
    [{ cgroup: '1:name=systemd:/lxc/web\n' }, 'lxc'],
  ])('with %j is %s', (marks, expected) => {
    expect(containerKindOf({ ...bare, ...marks })).toBe(expected);
  });
});
