/** What agents of one machine ask of it together: each of them has looked at its own part only. Pure. */
import { formatCounted, type Machine } from '@broadside/shared';

export interface HostPart {
  readonly name: string;
  readonly machine: Machine;
  /** Of this run. */
  readonly slots: number;
  readonly connections: number;
}

/** From this share of the local ports on it gets close, as in an agent's own check. */
const PORTS_SHARE = 0.9;
/** About what a connection and a slot take. */
const CONNECTION_BYTES = 20 * 1_024;
const SLOT_BYTES = 64 * 1_024 * 1_024;
/** Names that one line spells out. */
const MAX_NAMES = 4;

/** One sentence for each thing that machines with several agents lack, although no agent by itself lacks it. */
export function sharedHostWarnings(parts: readonly HostPart[]): string[] {
  const hosts = new Map<string, HostPart[]>();
  for (const part of parts) {
    const { hostname, cpuModel, cpus, memoryBytes } = part.machine;
    const key = [hostname, cpuModel, cpus, memoryBytes].join('|');
    const host = hosts.get(key);
    if (host === undefined) hosts.set(key, [part]);
    else host.push(part);
  }
  return [...hosts.values()].filter((host) => host.length > 1).flatMap(warningsOf);
}

function warningsOf(host: readonly HostPart[]): string[] {
  const machine = host[0]?.machine;
  if (machine === undefined) return [];
  const sumOf = (of: (part: HostPart) => number): number => host.reduce((sum, part) => sum + of(part), 0);
  const slots = sumOf((part) => part.slots);
  const connections = sumOf((part) => part.connections);
  const isNew = (limit: number, of: (part: HostPart) => number): boolean =>
    sumOf(of) > limit && host.every((part) => of(part) <= limit);
  const lacks: string[] = [];
  const cpus = machine.cgroup?.cpuQuota ?? machine.cpus;
  if (isNew(cpus, (part) => part.slots))
    lacks.push(`${formatCounted(slots, 'slot')} on ${formatCounted(cpus, 'CPU')}`);
  const ports = portsOf(machine);
  if (ports !== undefined && isNew(ports * PORTS_SHARE, (part) => part.connections)) {
    lacks.push(`${connections} connections with ${ports} local ports`);
  }
  const free = machine.memoryAvailableBytes;
  const bytes = (part: HostPart): number => part.slots * SLOT_BYTES + part.connections * CONNECTION_BYTES;
  if (free !== undefined && isNew(free, bytes)) lacks.push('more memory than is free');
  if (lacks.length === 0) return [];
  const names = host.slice(0, MAX_NAMES).map(({ name }) => name);
  const more = host.length - names.length;
  const who = names.join(', ') + (more > 0 ? ` and ${more} more` : '');
  return [`${who}: share the machine ${machine.hostname}, and want together ${lacks.join(', ')}`];
}

/** How many local ports there are for one target address. */
function portsOf({ sysctls }: Machine): number | undefined {
  const [lowest, highest] = (sysctls?.['net.ipv4.ip_local_port_range'] ?? '').trim().split(/\s+/).map(Number);
  if (lowest === undefined || highest === undefined || !(highest >= lowest)) return undefined;
  return highest - lowest + 1;
}
