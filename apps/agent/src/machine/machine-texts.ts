/**
 * What the text files of Linux say about a machine. Pure: text in, facts out. What a file does not say, in a
 * container, on another architecture or another kernel, is undefined and never a guess.
 */

export interface CpuFacts {
  readonly model: string | undefined;
  /** Physical cores over all sockets. */
  readonly cores: number | undefined;
  /** Highest of the frequencies at the moment. */
  readonly mhz: number | undefined;
}

/** `/proc/cpuinfo`: one block for each processor. ARM kernels name neither model, cores nor frequency. */
export function parseCpuInfo(text: string): CpuFacts {
  const cores = new Set<string>();
  let model: string | undefined;
  let mhz: number | undefined;
  for (const block of text.split(/\n\s*\n/)) {
    const fields = fieldsOf(block, ':');
    model ??= fields.get('model name') ?? fields.get('Model');
    const frequency = numberIn(fields.get('cpu MHz'));
    if (frequency !== undefined) mhz = Math.max(mhz ?? 0, frequency);
    const core = fields.get('core id');
    if (core !== undefined) cores.add(`${fields.get('physical id') ?? ''}.${core}`);
  }
  return { model, cores: cores.size === 0 ? undefined : cores.size, mhz };
}

/** A count of `/proc/cpuinfo`'s or `/proc/self/limits`' kind that may be without end. */
export interface DescriptorLimits {
  /** Infinity where it is unlimited. */
  readonly soft: number;
  readonly hard: number;
}

/** `Max open files` of `/proc/<pid>/limits`. */
export function parseDescriptorLimits(text: string): DescriptorLimits | undefined {
  const match = /^Max open files\s+(\d+|unlimited)\s+(\d+|unlimited)\s/m.exec(text);
  const [, soft, hard] = match ?? [];
  if (soft === undefined || hard === undefined) return undefined;
  const countOf = (word: string): number => (word === 'unlimited' ? Number.POSITIVE_INFINITY : Number(word));
  return { soft: countOf(soft), hard: countOf(hard) };
}

/** One figure of `/proc/meminfo` in bytes; its lines are `Name:   123 kB`. */
export function parseMemoryBytes(text: string, name: string): number | undefined {
  const match = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text);
  return match?.[1] === undefined ? undefined : Number(match[1]) * 1_024;
}

/** `PRETTY_NAME` of `/etc/os-release` (os-release(5)), without its quotes. */
export function parseDistribution(text: string): string | undefined {
  const value = fieldsOf(text, '=').get('PRETTY_NAME') ?? fieldsOf(text, '=').get('NAME');
  if (value === undefined) return undefined;
  return /^(["'])(.*)\1$/.exec(value)?.[2] ?? value;
}

/** First and last of `net.ipv4.ip_local_port_range`, both included. */
export function parsePortRange(
  text: string | undefined,
): { readonly first: number; readonly last: number } | undefined {
  const match = /^\s*(\d+)\s+(\d+)\s*$/.exec(text ?? '');
  if (match === null) return undefined;
  const first = Number(match[1]);
  const last = Number(match[2]);
  return last >= first && last <= 65_535 ? { first, last } : undefined;
}

/** Name of the interface of the default route in `/proc/net/route` with the smallest metric. */
export function parseDefaultInterface(text: string): string | undefined {
  let name: string | undefined;
  let leastMetric = Number.POSITIVE_INFINITY;
  for (const line of text.split('\n').slice(1)) {
    const [iface, destination, , , , , metric, mask] = line.trim().split(/\s+/);
    if (iface === undefined || destination !== '00000000' || mask !== '00000000') continue;
    if (Number(metric) >= leastMetric) continue;
    name = iface;
    leastMetric = Number(metric);
  }
  return name;
}

/** Kind of container by the control group of process 1 and the marks that runtimes leave; `none` without any. */
export function containerKindOf(marks: {
  readonly environment: string | undefined;
  readonly hasDockerMark: boolean;
  readonly hasPodmanMark: boolean;
  readonly cgroup: string;
  readonly isKubernetes: boolean;
}): string {
  if (marks.isKubernetes || /\bkubepods\b/.test(marks.cgroup)) return 'kubernetes';
  if (marks.environment !== undefined && marks.environment !== '') return marks.environment.slice(0, 32);
  if (marks.hasPodmanMark) return 'podman';
  if (marks.hasDockerMark || /\/docker[/-]/.test(marks.cgroup)) return 'docker';
  return /\/lxc[/.]/.test(marks.cgroup) ? 'lxc' : 'none';
}

/** Lines `name<separator>value` with the blanks around both taken off; the first of a name counts. */
function fieldsOf(text: string, separator: string): Map<string, string> {
  const fields = new Map<string, string>();
  for (const line of text.split('\n')) {
    const at = line.indexOf(separator);
    if (at < 1) continue;
    const name = line.slice(0, at).trim();
    const value = line.slice(at + 1).trim();
    if (value !== '' && !fields.has(name)) fields.set(name, value);
  }
  return fields;
}

function numberIn(text: string | undefined): number | undefined {
  const value = Number(text);
  return text === undefined || !Number.isFinite(value) || value <= 0 ? undefined : value;
}
