/**
 * The check before the load: can this machine carry this share of a plan, and may anything of it spoil the
 * numbers? Pure. A refusal means that the plan cannot work here; a warning that it may not, or that its
 * numbers are not what they seem; a remark is information. Each is one sentence with what, where, what to do.
 */
import { formatBytes, formatCount, formatCounted, type Machine } from '@broadside/shared';
import { parsePortRange } from './machine-texts.js';

/** What this machine is to do at once, all its shards of the run together. */
export interface LoadShare {
  readonly connections: number;
  readonly keepAlive: boolean;
  /** Absent when the budget is a duration. */
  readonly requests?: number | undefined;
  readonly durationMs?: number | undefined;
  /** Requests a second where the plan names a rate. */
  readonly rateHz?: number | undefined;
  /**
   * Local addresses that connections come from: each has the whole range of ports towards one target address.
   * 0 where no ports are used, or nobody knows yet to how many addresses the target's name leads.
   */
  readonly portSources: number;
  /** Engine threads that will be busy. */
  readonly slots: number;
  /** The target's address is one of this machine's own, as far as it is known. */
  readonly sharesMachine: boolean;
}

export interface PreflightFindings {
  readonly refusals: readonly string[];
  readonly warnings: readonly string[];
  readonly remarks: readonly string[];
}

/** Descriptors that a run needs besides its connections: event loops, a new file now and then. */
const SPARE_DESCRIPTORS = 32;
/** From this share of the ports on, finding a free one takes the kernel long, and other programs need some. */
const MANY_PORTS_SHARE = 0.9;
/** How long Linux keeps the port of a connection that was closed from this side. */
const TIME_WAIT_S = 60;
/** A connection as Linux and the engine hold it, with small socket buffers. */
const CONNECTION_BYTES = 20_480;
/** An engine thread with its histograms. */
const THREAD_BYTES = 64 * 1_048_576;

/** @param share absent: what can be said of the machine without a plan. */
export function preflight(machine: Machine, share?: LoadShare): PreflightFindings {
  const findings = { refusals: [] as string[], warnings: [] as string[], remarks: [] as string[] };
  if (share !== undefined) {
    checkDescriptors(machine, share, findings);
    checkPorts(machine, share, findings);
    checkBacklog(machine, share, findings);
    checkMemory(machine, share, findings);
  }
  checkCpus(machine, share?.slots ?? machine.cpus, share?.sharesMachine === true, findings);
  checkClock(machine, findings);
  if (share?.sharesMachine === true) {
    findings.remarks.push(
      `client and target share this machine (${formatCounted(machine.cpus, 'CPU')}): each takes time from the ` +
        'other, so the numbers are of both together',
    );
  }
  return findings;
}

interface Findings {
  readonly refusals: string[];
  readonly warnings: string[];
  readonly remarks: string[];
}

function checkDescriptors(
  machine: Machine,
  { connections }: LoadShare,
  { refusals, warnings }: Findings,
): void {
  const { descriptorLimit, descriptorsOpen = SPARE_DESCRIPTORS } = machine;
  if (descriptorLimit === undefined) return;
  const needed = connections + descriptorsOpen + SPARE_DESCRIPTORS;
  if (connections + descriptorsOpen > descriptorLimit) {
    refusals.push(
      `${formatCount(connections)} connections need ${formatCount(needed)} file descriptors and ` +
        `this process may open ${formatCount(descriptorLimit)}: raise \`ulimit -n\`, lower the ` +
        'connections (-c), or add agents',
    );
  } else if (needed > descriptorLimit) {
    warnings.push(
      `${formatCount(connections)} connections use up the ${formatCount(descriptorLimit)} file ` +
        `descriptors of this process almost completely: raise \`ulimit -n\` to ` +
        `${formatCount(needed)} or more`,
    );
  }
}

/** All connections of a machine to one target address differ only in their local port. */
function checkPorts(machine: Machine, share: LoadShare, { refusals, warnings }: Findings): void {
  const range = parsePortRange(machine.sysctls?.['net.ipv4.ip_local_port_range']);
  if (range === undefined || share.portSources === 0) return;
  const ports = (range.last - range.first + 1) * share.portSources;
  const setting = `net.ipv4.ip_local_port_range is ${range.first} to ${range.last}`;
  const { connections } = share;
  if (connections > ports) {
    refusals.push(
      `${formatCount(connections)} connections need as many local ports and this machine has ` +
        `${formatCount(ports)} for one target (${setting}): widen the range, lower the ` +
        'connections (-c), or add agents',
    );
    return;
  }
  if (connections > ports * MANY_PORTS_SHARE) {
    warnings.push(
      `${formatCount(connections)} connections take more than ${MANY_PORTS_SHARE * 100} % of ` +
        `the ${formatCount(ports)} local ports for one target (${setting}): others that are in ` +
        'use will be missing; widen the range or add agents',
    );
  }
  if (!share.keepAlive) checkTurnover(machine, share, ports, warnings);
}

/**
 * Without keep-alive each request takes a port. Who closes first keeps it for a minute; the engine leaves that
 * to the target where it can. Linux takes a port back after a second where `tcp_tw_reuse` says so (2: only on
 * loopback).
 */
function checkTurnover(machine: Machine, share: LoadShare, ports: number, warnings: string[]): void {
  const reuse = machine.sysctls?.['net.ipv4.tcp_tw_reuse'];
  if (reuse === '1' || (reuse === '2' && share.sharesMachine)) return;
  const inOneWait = requestsWithin(share, TIME_WAIT_S);
  if (inOneWait === undefined || inOneWait <= ports) return;
  const perSecond = Math.floor(ports / TIME_WAIT_S);
  warnings.push(
    `without keep-alive each request takes one of ${formatCount(ports)} local ports, and one ` +
      `that is closed from this side is blocked for ${TIME_WAIT_S} s: more than ` +
      `${formatCount(perSecond)} requests/s may run out of them; keep connections alive (-k), set ` +
      'net.ipv4.tcp_tw_reuse=1, or add agents',
  );
}

/** Most requests that may begin within a time; undefined where nothing bounds them but speed. */
function requestsWithin(share: LoadShare, seconds: number): number | undefined {
  const byRate =
    share.rateHz === undefined
      ? Number.POSITIVE_INFINITY
      : share.rateHz * Math.min(seconds, (share.durationMs ?? Number.POSITIVE_INFINITY) / 1_000);
  const most = Math.min(byRate, share.requests ?? Number.POSITIVE_INFINITY);
  if (Number.isFinite(most)) return most;
  // As fast as it goes: a second of it is enough to use up the ports of a minute.
  return (share.durationMs ?? Number.POSITIVE_INFINITY) >= 1_000 ? Number.POSITIVE_INFINITY : undefined;
}

/** Only a target on this machine has this machine's queue. */
function checkBacklog(machine: Machine, share: LoadShare, { warnings }: Findings): void {
  const somaxconn = Number(machine.sysctls?.['net.core.somaxconn']);
  if (!share.sharesMachine || !Number.isFinite(somaxconn) || share.connections <= somaxconn) return;
  warnings.push(
    `${formatCount(share.connections)} connections are opened at once and the target's accept ` +
      `queue holds at most ${formatCount(somaxconn)} (net.core.somaxconn): connects beyond it ` +
      `wait for a second or more; raise it and the target's own backlog`,
  );
}

function checkMemory(machine: Machine, share: LoadShare, { warnings }: Findings): void {
  const free = Math.min(
    machine.memoryAvailableBytes ?? Number.POSITIVE_INFINITY,
    machine.cgroup?.memoryBytes ?? Number.POSITIVE_INFINITY,
  );
  const needed = share.connections * CONNECTION_BYTES + share.slots * THREAD_BYTES;
  if (needed <= free) return;
  warnings.push(
    `about ${formatBytes(needed)} of memory are needed for ${formatCounted(share.connections, 'connection')} ` +
      `in ${formatCounted(share.slots, 'slot')} and ${formatBytes(free)} are free: lower the ` +
      'connections (-c) or the slots, or the machine will swap or end the agent',
  );
}

function checkCpus(machine: Machine, slots: number, sharesMachine: boolean, { warnings }: Findings): void {
  const quota = machine.cgroup?.cpuQuota;
  if (quota !== undefined && quota < Math.min(slots, machine.cpus)) {
    warnings.push(
      `the control group allows ${cpusText(quota)} and ${formatCounted(slots, 'slot')} ` +
        `${slots === 1 ? 'wants' : 'want'} as many: engine threads will be held up in ` +
        'bursts; raise the CPU limit or lower the slots',
    );
  } else if (slots > machine.cpus) {
    // A target on this machine needs CPUs of its own.
    const most = sharesMachine ? Math.max(1, Math.floor(machine.cpus / 2)) : machine.cpus;
    const whom = sharesMachine ? 'each other and from the target' : 'each other';
    warnings.push(
      `${slots} slots share ${formatCounted(machine.cpus, 'CPU')}: they take time from ${whom}; ` +
        `lower the slots to ${most}`,
    );
  }
}

function cpusText(quota: number): string {
  const cpus = Math.round(quota * 100) / 100;
  return `${cpus} ${cpus === 1 ? 'CPU' : 'CPUs'}`;
}

function checkClock(machine: Machine, { warnings, remarks }: Findings): void {
  const { governor, mitigations } = machine;
  if (governor !== undefined && governor !== 'performance') {
    warnings.push(
      `the CPU governor is "${governor}": times and rates change with the frequency; set it to ` +
        '"performance" for numbers that can be compared',
    );
  }
  if (mitigations === undefined) return;
  const on = mitigations.filter(({ state }) => state.startsWith('Mitigation')).map(({ name }) => name);
  const open = mitigations.filter(({ state }) => state.startsWith('Vulnerable')).map(({ name }) => name);
  if (on.length > 0) remarks.push(`CPU mitigations are on, each system call costs more: ${on.join(', ')}`);
  if (open.length > 0) remarks.push(`CPU vulnerabilities without mitigation: ${open.join(', ')}`);
}
