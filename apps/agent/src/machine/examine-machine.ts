import { lookup } from 'node:dns/promises';
import type { TransportWish } from '@broadside/engine/host';
import type { Machine, Shard } from '@broadside/shared';
import { loadShareOf } from './check-shard-fits.js';
import { busyMachineWarning, readCpuLoad } from './cpu-load.js';
import { describeMachine } from './describe-machine.js';
import { isOwnAddress } from './own-address.js';
import { type PreflightFindings, preflight } from './preflight.js';
import { systemFiles } from './text-files.js';

/** What this machine is, and what may be wrong with it for a load. */
export interface Examination {
  readonly machine: Machine;
  readonly findings: PreflightFindings;
  /** What plain TCP targets would get here, and why not a faster one. */
  readonly transport: { readonly name: string; readonly note?: string };
  /** Of the target's name; empty without shards, and when it cannot be found. */
  readonly addresses: readonly string[];
}

/**
 * Looks at this machine as a run would, without a run. Nothing is connected to.
 * @param shards what the machine would carry; none: the machine alone.
 */
export async function examineMachine(
  shards: readonly Shard[],
  wish: TransportWish = 'auto',
): Promise<Examination> {
  // Before anything here keeps the CPUs busy itself.
  const load = readCpuLoad(systemFiles);
  const examination = await examine(shards, wish);
  const { machine, findings } = examination;
  const busy = busyMachineWarning(load, machine.cpus);
  if (busy === undefined) return examination;
  return { ...examination, findings: { ...findings, warnings: [busy, ...findings.warnings] } };
}

async function examine(shards: readonly Shard[], wish: TransportWish): Promise<Examination> {
  const machine = describeMachine();
  // Only here does this thread need an engine; an agent that takes shards has its threads for that.
  const { chooseTransport } = await import('@broadside/engine');
  const { name, note } = await chooseTransport(wish);
  const transport = { name, ...(note === undefined ? {} : { note }) };
  const [first, ...others] = shards;
  if (first === undefined) return { machine, findings: preflight(machine), transport, addresses: [] };
  const share = loadShareOf(first, others, shards.length);
  if (first.connection?.unixSocket !== undefined) {
    return { machine, findings: preflight(machine, share), transport, addresses: [] };
  }
  const { addresses, problem } = await addressesOf(first.connection?.proxy?.host ?? first.target.host);
  const sharesMachine = share.sharesMachine || (addresses[0] !== undefined && isOwnAddress(addresses[0]));
  const findings = preflight(machine, { ...share, sharesMachine });
  const refusals = problem === undefined ? findings.refusals : [problem, ...findings.refusals];
  return { machine, findings: { ...findings, refusals }, transport, addresses };
}

async function addressesOf(
  host: string,
): Promise<{ readonly addresses: readonly string[]; readonly problem?: string }> {
  try {
    const found = await lookup(host, { all: true });
    return { addresses: found.map(({ address }) => address) };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    const problem = `the name ${host} leads to no address (${code}): check its spelling and this machine's DNS`;
    return { addresses: [], problem };
  }
}
