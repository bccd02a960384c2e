/** What a load machine is, as lines for people: in full for `broadside doctor`, in short for a summary. */
import { formatBytes, formatCount, formatCounted } from '../../units.js';
import type { Machine } from '../../wire/machine.schema.js';
import type { Report } from '../report.schema.js';
import { printable } from './printable.js';

/** What the facts about a machine do not hold themselves. */
export interface EnvironmentVersions {
  readonly broadside: string;
  /** The transport that runs, or would run, with the reason where it is not the one that was wished for. */
  readonly transport?: string | undefined;
}

/**
 * The environment of a measurement, one row for each thing that changes its numbers: a label and its text. What
 * the platform does not tell is said to be unknown, so that its absence is not taken for "off".
 */
export function environmentRows(machine: Machine, versions: EnvironmentVersions): [string, string][] {
  const { distribution, os, arch, container, node } = machine;
  const system = [distribution, os, arch].filter((part) => part !== undefined);
  const inContainer =
    container === undefined || container === 'none' ? '' : `, in a container (${container})`;
  const transport = versions.transport === undefined ? '' : `, transport ${versions.transport}`;
  const rows: [string, string][] = [
    ['CPU', `${cpuText(machine)}, ${governorText(machine)}`],
    ['CPU security patches', patchesText(machine)],
    ['RAM', memoryText(machine)],
    ['OS', `${system.join(', ')}${inContainer}`],
    ['File descriptors', descriptorsText(machine)],
    ['Control group', cgroupText(machine)],
    ['Network', machine.linkMbps === undefined ? 'link speed unknown' : linkText(machine.linkMbps)],
    ...Object.entries(machine.sysctls ?? {}).map(([name, value]): [string, string] => [name, value]),
    ['Versions', `Broadside ${versions.broadside}, Node ${node}${transport}`],
  ];
  return rows.map(([label, text]) => [label, printable(text)]);
}

/** One line for each machine of a run, those of one kind together, and whether the target was on one of them. */
export function machineLines(report: Report): string[] {
  const names = new Map<string, string[]>();
  for (const agent of report.agents) {
    if (agent.shards === 0) continue;
    const own = report.shards.filter((shard) => shard.agentId === agent.agentId);
    const transports = [...new Set(own.flatMap(({ transport }) => transport ?? []))].sort();
    const text = shortText(agent.machine, transports.join(', '));
    names.set(text, [...(names.get(text) ?? []), agent.name]);
  }
  const lines = [...names].map(([text, of]) => `${namesText(of)}: ${text}`);
  const shared = report.shards.some((shard) => shard.sharesMachine === true);
  return (
    shared ? [...lines, 'client and target share a machine: each takes CPU time from the other'] : lines
  ).map(printable);
}

/** Names that one line spells out. */
const MAX_NAMES = 3;

function namesText(names: readonly string[]): string {
  const more = names.length - MAX_NAMES;
  return names.slice(0, MAX_NAMES).join(', ') + (more > 0 ? ` and ${formatCount(more)} more` : '');
}

function shortText(machine: Machine, transport: string): string {
  const parts = [
    cpuText(machine),
    `${formatBytes(machine.memoryBytes)} RAM`,
    machine.distribution ?? machine.os,
    `Node ${machine.node}`,
    ...(machine.governor === undefined ? [] : [governorText(machine)]),
    ...(machine.cgroup?.cpuQuota === undefined
      ? []
      : [`limited to ${twoDigits(machine.cgroup.cpuQuota)} CPUs`]),
    ...(transport === '' ? [] : [`transport ${transport}`]),
  ];
  return parts.join(', ');
}

function cpuText({ cpuModel, frequencyMhz, cores, cpus }: Machine): string {
  // Some models name their frequency themselves.
  const clock =
    frequencyMhz === undefined || cpuModel.includes('GHz') ? '' : ` @ ${twoDigits(frequencyMhz / 1_000)} GHz`;
  const hasThreads = cores !== undefined && cores !== cpus;
  const processors = `${hasThreads ? `${formatCounted(cores, 'core')}, ` : ''}${formatCounted(cpus, 'CPU')}`;
  return `${cpuModel}${clock}, ${processors}`;
}

function governorText({ governor }: Machine): string {
  return governor === undefined ? 'governor unknown' : `governor "${governor}"`;
}

function patchesText({ mitigations }: Machine): string {
  if (mitigations === undefined) return 'unknown';
  const named = (start: string): string[] =>
    mitigations.filter(({ state }) => state.startsWith(start)).map(({ name }) => name);
  const on = named('Mitigation');
  const off = named('Vulnerable');
  const rest = mitigations.length - on.length - off.length;
  if (off.length === 0) return `all ON (${on.length === 0 ? 'none needed' : on.join(', ')})`;
  return `ON: ${on.join(', ') || 'none'}; OFF: ${off.join(', ')}; ${formatCount(rest)} not affected`;
}

function memoryText({ memoryBytes, memoryAvailableBytes }: Machine): string {
  const free = memoryAvailableBytes === undefined ? '' : `, ${formatBytes(memoryAvailableBytes)} available`;
  return `${formatBytes(memoryBytes)}${free}`;
}

function descriptorsText({ descriptorLimit, descriptorsOpen }: Machine): string {
  if (descriptorLimit === undefined) return 'limit unknown';
  const open = descriptorsOpen === undefined ? '' : `, ${formatCount(descriptorsOpen)} open`;
  return `${formatCount(descriptorLimit)}${open}`;
}

function cgroupText({ cgroup }: Machine): string {
  if (cgroup === undefined) return 'unknown';
  const { version, cpuQuota, memoryBytes } = cgroup;
  const cpu = cpuQuota === undefined ? 'no CPU limit' : `${twoDigits(cpuQuota)} CPUs`;
  const memory = memoryBytes === undefined ? 'no memory limit' : `${formatBytes(memoryBytes)} of memory`;
  return `version ${version}, ${cpu}, ${memory}`;
}

function linkText(mbps: number): string {
  return `link of ${formatCount(mbps)} Mbit/s`;
}

function twoDigits(value: number): string {
  return String(Math.round(value * 100) / 100);
}
