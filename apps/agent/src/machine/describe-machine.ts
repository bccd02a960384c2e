import { arch, cpus, hostname, release, totalmem, type } from 'node:os';
import type { Machine } from '@broadside/shared';
import { cgroupLimits } from './cgroup-limits.js';
import {
  containerKindOf,
  parseCpuInfo,
  parseDefaultInterface,
  parseDescriptorLimits,
  parseDistribution,
  parseMemoryBytes,
} from './machine-texts.js';
import { systemFiles, type TextFiles } from './text-files.js';

/** Settings that decide how many connections a machine can open, by their sysctl names. */
const SYSCTLS = [
  'net.ipv4.ip_local_port_range',
  'net.ipv4.ip_local_reserved_ports',
  'net.ipv4.tcp_tw_reuse',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_max_syn_backlog',
  'net.core.somaxconn',
  'net.netfilter.nf_conntrack_max',
] as const;

const CPU_FOLDER = '/sys/devices/system/cpu';

/** What node:os says on every platform. */
export interface SystemFacts {
  readonly hostname: string;
  readonly cpus: number;
  readonly cpuModel: string;
  readonly memoryBytes: number;
  readonly os: string;
  readonly arch: string;
  readonly node: string;
  readonly isKubernetes: boolean;
}

function systemFacts(): SystemFacts {
  const processors = cpus();
  return {
    hostname: hostname(),
    cpus: Math.max(processors.length, 1),
    cpuModel: (processors[0]?.model ?? '').trim(),
    memoryBytes: totalmem(),
    os: `${type()} ${release()}`,
    arch: arch(),
    node: process.version,
    isKubernetes: process.env['KUBERNETES_SERVICE_HOST'] !== undefined,
  };
}

/**
 * Facts about this machine, cut to what the wire allows. Rich on Linux; elsewhere what node:os gives.
 * Reads a few dozen small files, which takes some milliseconds.
 */
export function describeMachine(
  files: TextFiles = systemFiles,
  system: SystemFacts = systemFacts(),
): Machine {
  const cpu = parseCpuInfo(files.read('/proc/cpuinfo') ?? '');
  const cgroup = cgroupLimits(files);
  const descriptors = parseDescriptorLimits(files.read('/proc/self/limits') ?? '');
  const memory = files.read('/proc/meminfo') ?? '';
  const known = {
    cores: cpu.cores,
    frequencyMhz: frequencyMhz(files, cpu.mhz),
    governor: governor(files)?.slice(0, 100),
    mitigations: mitigations(files),
    distribution: parseDistribution(files.read('/etc/os-release') ?? '')?.slice(0, 200),
    memoryAvailableBytes: parseMemoryBytes(memory, 'MemAvailable'),
    // JSON has no infinity; no process opens 2^53 descriptors.
    descriptorLimit: descriptors && Math.min(descriptors.soft, Number.MAX_SAFE_INTEGER),
    descriptorsOpen: openDescriptors(files),
    sysctls: sysctls(files),
    cgroup,
    container: containerKind(files, system.isKubernetes),
    linkMbps: linkMbps(files),
  };
  return {
    hostname: system.hostname.slice(0, 255),
    cpus: system.cpus,
    cpuModel: (cpu.model ?? (system.cpuModel === '' ? 'unknown' : system.cpuModel)).slice(0, 200),
    memoryBytes: parseMemoryBytes(memory, 'MemTotal') ?? system.memoryBytes,
    os: system.os.slice(0, 200),
    arch: system.arch.slice(0, 32),
    node: system.node.slice(0, 32),
    ...withoutUnknown(known),
  };
}

/** The fields that have a value. */
function withoutUnknown<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  // The filter takes away exactly what the type takes away.
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}

/** cpufreq counts in kHz. Without it the clock at the moment is all there is. */
function frequencyMhz(files: TextFiles, currentMhz: number | undefined): number | undefined {
  const khz = Number(files.read(`${CPU_FOLDER}/cpu0/cpufreq/cpuinfo_max_freq`));
  return Number.isFinite(khz) && khz > 0 ? khz / 1_000 : currentMhz;
}

/** All governors in use; virtual machines usually have none. */
function governor(files: TextFiles): string | undefined {
  const names = new Set<string>();
  for (const cpu of files.list(CPU_FOLDER)) {
    if (!/^cpu\d+$/.test(cpu)) continue;
    const name = files.read(`${CPU_FOLDER}/${cpu}/cpufreq/scaling_governor`)?.trim();
    if (name !== undefined && name !== '') names.add(name);
  }
  return names.size === 0 ? undefined : [...names].sort().join(',');
}

function mitigations(files: TextFiles): Machine['mitigations'] {
  const folder = `${CPU_FOLDER}/vulnerabilities`;
  const found = files.list(folder).flatMap((name) => {
    const state = files.read(`${folder}/${name}`)?.trim();
    return state === undefined ? [] : [{ name: name.slice(0, 64), state: state.slice(0, 300) }];
  });
  return found.length === 0 ? undefined : found.slice(0, 64);
}

function openDescriptors(files: TextFiles): number | undefined {
  const { length } = files.list('/proc/self/fd');
  // The descriptor of the listing itself is closed again.
  return length === 0 ? undefined : length - 1;
}

function sysctls(files: TextFiles): Record<string, string> | undefined {
  const found: Record<string, string> = {};
  for (const name of SYSCTLS) {
    const text = files.read(`/proc/sys/${name.replaceAll('.', '/')}`) ?? '';
    const value = text.trim().replace(/\s+/g, ' ');
    if (value !== '') found[name] = value.slice(0, 100);
  }
  return Object.keys(found).length === 0 ? undefined : found;
}

function containerKind(files: TextFiles, isKubernetes: boolean): string | undefined {
  const cgroup = files.read('/proc/1/cgroup');
  if (cgroup === undefined) return undefined;
  return containerKindOf({
    environment: files.read('/run/systemd/container')?.trim(),
    hasDockerMark: files.exists('/.dockerenv'),
    hasPodmanMark: files.exists('/run/.containerenv'),
    cgroup,
    isKubernetes,
  });
}

/** Virtual interfaces say −1 or nothing. */
function linkMbps(files: TextFiles): number | undefined {
  const name = parseDefaultInterface(files.read('/proc/net/route') ?? '');
  if (name === undefined || name.includes('/')) return undefined;
  const mbps = Number(files.read(`/sys/class/net/${name}/speed`));
  return Number.isFinite(mbps) && mbps > 0 ? mbps : undefined;
}
