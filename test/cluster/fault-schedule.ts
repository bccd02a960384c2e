// What one seed means: a plan, and what goes wrong while it is carried out. Pure, so a seed always means the same;
// what real processes make of it differs a little from time to time.

import { Random } from '../../libs/shared/src/testing/random.js';

export const AGENT_NAMES = ['one', 'two', 'three'] as const;
export type AgentName = (typeof AGENT_NAMES)[number];
/** Of each agent. */
export const AGENT_SLOTS = 2;
/** The target answers after this time, so a connection carries 50 requests a second. */
export const TARGET_DELAY_MS = 20;

/** When something goes wrong, after the run was posted, and for how long. */
interface When {
  readonly atMs: number;
  readonly forMs: number;
}

export type AgentFault = When & { readonly agent: AgentName } & (
    | { readonly kind: 'kill' | 'freeze' | 'drain' | 'cut-off' | 'unplug' }
    | { readonly kind: 'lossy'; readonly percent: number }
  );

export type Fault =
  | AgentFault
  | (When & { readonly kind: 'kill-coordinator' | 'freeze-coordinator' | 'kill-redis' });

export interface FaultSchedule {
  readonly plan: Readonly<Record<string, unknown>>;
  readonly faults: readonly Fault[];
}

const AGENT_FAULTS = ['kill', 'kill', 'freeze', 'freeze', 'drain', 'cut-off', 'cut-off', 'unplug'] as const;

export function faultSchedule(seed: number): FaultSchedule {
  const random = new Random(seed);
  const connections = random.int(3, 12);
  const plan = { ...loadOf(random, connections), connections, slots: random.int(1, 3), timeout: '2s' };
  const faults = Array.from({ length: random.int(1, 4) }, () => faultOf(random));
  return {
    plan: {
      ...plan,
      probe: random.isTrue(0.3),
      ...(random.isTrue(0.15) ? { onAgentLoss: random.pick(['continue', 'abort']) } : {}),
    },
    faults: faults.toSorted((a, b) => a.atMs - b.atMs),
  };
}

export function describeFault(fault: Fault): string {
  const whom = 'agent' in fault ? ` agent ${fault.agent}` : '';
  const how = 'percent' in fault ? `, ${fault.percent} %` : '';
  return `${fault.kind}${whom}${how} for ${fault.forMs} ms`;
}

/** A load of a few seconds, where nothing goes wrong. */
function loadOf(random: Random, connections: number): Readonly<Record<string, unknown>> {
  const seconds = random.int(2, 6);
  const duration = `${seconds}s`;
  const requests = Math.floor((seconds * connections * 1_000) / TARGET_DELAY_MS);
  return random.pick([
    { requests },
    { requests },
    { duration },
    // Half of what the connections can carry.
    { duration, rate: connections * 25 },
    { requests: Math.floor(requests / 2), rate: connections * 25 },
    { duration, requests },
  ]);
}

function faultOf(random: Random): Fault {
  const when = { atMs: random.int(0, 6_000), forMs: random.int(50, 7_000) };
  const agent = random.pick(AGENT_NAMES);
  if (random.isTrue(0.2)) return { ...when, kind: 'kill-coordinator' };
  if (random.isTrue(0.05)) return { ...when, kind: 'freeze-coordinator' };
  if (random.isTrue(0.15)) return { ...when, kind: 'kill-redis' };
  if (random.isTrue(0.1)) return { ...when, kind: 'lossy', agent, percent: random.int(1, 40) };
  return { ...when, kind: random.pick(AGENT_FAULTS), agent };
}
