import {
  type AgentMessage,
  type AgentSummary,
  type CoordinatorMessage,
  type Labels,
  LIMITS,
  type Machine,
  type ShardAttempt,
  type SlotStrength,
  shardAttemptKey,
} from '@broadside/shared';
import type { Clock } from '../clock.js';
import type { AgentRoom } from '../run/admission.js';
import type { RestRoom } from '../run/rest-taker.js';
import { type LivenessLimits, livenessOf } from './agent-liveness.js';

export type Hello = Extract<AgentMessage, { kind: 'hello' }>;

/** What an agent is spoken to through. */
export interface AgentLink {
  send(message: CoordinatorMessage): void;
  /** Ends the socket with a WebSocket close code and a reason. */
  close(code: number, reason: string): void;
}

/** Everything that is known of one agent. */
export interface AgentRecord extends SlotStrength {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly slots: number;
  /** Room for rests beside its slots. */
  readonly extraSlots: number;
  readonly machine: Machine;
  readonly labels?: Labels | undefined;
  readonly connectedAt: Date;
  readonly clockOffsetUs: number;
  readonly clockUncertaintyUs: number;
}

/** An agent that is no more, and what showed it: its good-bye, its broken connection, or its silence. */
export interface LostAgent extends AgentRecord {
  readonly sign: 'left' | 'disconnected' | 'silent';
}

interface Entry {
  record: AgentRecord;
  link: AgentLink | undefined;
  lastHeardMs: number;
  closedAtMs: number | undefined;
  /** Time to come back, where it is not the usual one. */
  graceMs: number | undefined;
  isDraining: boolean;
  /** The run of each attempt that holds a slot; from the number of slots on they are in extra slots. */
  readonly reserved: Map<string, string>;
}

/** Before the first estimate arrives nothing is known of the clock but that it may be wrong by this much. */
const UNKNOWN_UNCERTAINTY_US = 1_000_000;

/** A live agent whose socket broke is back after its first or second attempt, 50 to 300 ms later. */
const AGENT_LIVENESS: LivenessLimits = { silenceMs: LIMITS.agentSilenceMs, graceMs: 1_000 };
/** Where many have to come back at once, each of them costs the coordinator about this much. */
const GREETING_MS = 2;
/** Agents try a coordinator that is away again after 5 s at the latest, and then have to greet it. */
const RETURN_MS = 8_000;

/** The agents of the cluster, their sockets and their slots. Decides nothing but who is still there. */
export class AgentRegistry {
  readonly #clock: Clock;
  readonly #entries = new Map<string, Entry>();
  /** Of the entries. */
  readonly #names = new Set<string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes an agent in, or back. An older socket of the same agent is closed: it is dead or a double. */
  join(hello: Hello, link: AgentLink): void {
    const known = this.#entries.get(hello.agentId);
    if (known?.link !== undefined) known.link.close(1008, 'this agent has connected again');
    const nowMs = this.#clock.nowMs();
    const record: AgentRecord = {
      id: hello.agentId,
      name: known?.record.name ?? this.#freeName(hello.name),
      version: hello.version,
      slots: hello.slots,
      extraSlots: Math.min(hello.extraSlots ?? 0, hello.slots * LIMITS.extraPerSlot),
      machine: hello.machine,
      ...(hello.labels === undefined ? {} : { labels: hello.labels }),
      ...strengthOf(hello),
      connectedAt: known?.record.connectedAt ?? new Date(),
      clockOffsetUs: known?.record.clockOffsetUs ?? 0,
      clockUncertaintyUs: known?.record.clockUncertaintyUs ?? UNKNOWN_UNCERTAINTY_US,
    };
    this.#names.add(record.name);
    this.#entries.set(hello.agentId, {
      record,
      link,
      lastHeardMs: nowMs,
      closedAtMs: undefined,
      graceMs: undefined,
      isDraining: false,
      reserved: known?.reserved ?? new Map<string, string>(),
    });
  }

  /** Two agents of one name could not be told apart in a report. */
  #freeName(wanted: string): string {
    let name = wanted;
    for (let number = 2; this.#names.has(name); number++) {
      const ending = ` (${number})`;
      name = `${wanted.slice(0, LIMITS.maxNameLength - ending.length)}${ending}`;
    }
    return name;
  }

  /** An agent of an earlier coordinator: it has a part in a run, and is to come back. */
  expect(facts: Omit<AgentRecord, 'id' | 'connectedAt' | 'extraSlots'> & { readonly agentId: string }): void {
    const { agentId: id, ...known } = facts;
    if (this.#entries.has(id)) return;
    const nowMs = this.#clock.nowMs();
    this.#names.add(known.name);
    this.#entries.set(id, {
      record: { id, ...known, extraSlots: 0, connectedAt: new Date() },
      link: undefined,
      lastHeardMs: nowMs,
      closedAtMs: nowMs,
      graceMs: RETURN_MS,
      isDraining: false,
      reserved: new Map(),
    });
  }

  /** Notes that something came from the agent over this link. */
  heard(agentId: string): void {
    const entry = this.#entries.get(agentId);
    if (entry !== undefined) entry.lastHeardMs = this.#clock.nowMs();
  }

  setClock(agentId: string, offsetUs: number, uncertaintyUs: number): void {
    const entry = this.#entries.get(agentId);
    if (entry === undefined) return;
    entry.record = { ...entry.record, clockOffsetUs: offsetUs, clockUncertaintyUs: uncertaintyUs };
  }

  /** Whether it has said that it takes no more shards. */
  isDraining(agentId: string): boolean {
    return this.#entries.get(agentId)?.isDraining ?? false;
  }

  setDraining(agentId: string): void {
    const entry = this.#entries.get(agentId);
    if (entry !== undefined) entry.isDraining = true;
  }

  /** The socket has closed; an older socket of an agent that is back already does not count. */
  disconnected(agentId: string, link: AgentLink): void {
    const entry = this.#entries.get(agentId);
    if (entry === undefined || entry.link !== link) return;
    entry.link = undefined;
    entry.closedAtMs = this.#clock.nowMs();
  }

  /** Nothing could be heard for this long, because nobody listened. */
  forgiveSilence(pauseMs: number): void {
    for (const entry of this.#entries.values()) {
      entry.lastHeardMs += pauseMs;
      if (entry.closedAtMs !== undefined) entry.closedAtMs += pauseMs;
    }
  }

  /** Removes and names the agents that counted as lost then, of which nothing has been heard since. */
  takeLost(nowMs: number = this.#clock.nowMs(), limits: LivenessLimits = AGENT_LIVENESS): LostAgent[] {
    const lost: LostAgent[] = [];
    const away = [...this.#entries.values()].filter((entry) => entry.link === undefined).length;
    for (const [id, entry] of this.#entries) {
      // An agent that has said good-bye and holds nothing cannot come back to anything.
      const isGone = entry.isDraining && entry.link === undefined && entry.reserved.size === 0;
      const { silenceMs, graceMs } = limits;
      const own = { silenceMs, graceMs: (entry.graceMs ?? graceMs) + (away - 1) * GREETING_MS };
      if (!isGone && livenessOf(entry, nowMs, own) !== 'lost') continue;
      const ended = entry.isDraining ? 'left' : 'disconnected';
      lost.push({ ...entry.record, sign: entry.link === undefined ? ended : 'silent' });
      entry.link?.close(1008, 'nothing was heard from this agent for too long');
      this.#entries.delete(id);
      this.#names.delete(entry.record.name);
    }
    return lost;
  }

  get(agentId: string): AgentRecord | undefined {
    return this.#entries.get(agentId)?.record;
  }

  /** True when it was sent; an agent that is away for a moment gets what it needs when it is back. */
  send(agentId: string, message: CoordinatorMessage): boolean {
    const link = this.#entries.get(agentId)?.link;
    link?.send(message);
    return link !== undefined;
  }

  /** To every agent that is connected. */
  sendAll(message: CoordinatorMessage): void {
    for (const { link } of this.#entries.values()) link?.send(message);
  }

  reserve(agentId: string, attempt: ShardAttempt): void {
    this.#entries.get(agentId)?.reserved.set(shardAttemptKey(attempt), attempt.runId);
  }

  release(agentId: string, attempt: ShardAttempt): void {
    this.#entries.get(agentId)?.reserved.delete(shardAttemptKey(attempt));
  }

  /** Whether the agent had given out all its slots when this attempt came. */
  isExtra(agentId: string, attempt: ShardAttempt): boolean {
    const entry = this.#entries.get(agentId);
    if (entry === undefined) return false;
    return [...entry.reserved.keys()].indexOf(shardAttemptKey(attempt)) >= entry.record.slots;
  }

  /** What admission may count with: an agent that is away or leaving offers nothing new. */
  rooms(): AgentRoom[] {
    return [...this.#entries.values()].filter((entry) => !entry.isDraining).map(roomOf);
  }

  /** The same for what is left of lost attempts of a run, which its own agents may carry beyond their slots. */
  restRooms(runId: string): RestRoom[] {
    return [...this.#entries.values()]
      .filter((entry) => !entry.isDraining)
      .map((entry) => ({
        ...roomOf(entry),
        agentName: entry.record.name,
        shards: entry.reserved.size,
        freeExtraSlots: freeExtraSlotsOf(entry, runId),
      }));
  }

  summaries(): AgentSummary[] {
    return [...this.#entries.values()].map((entry) => ({
      id: entry.record.id,
      name: entry.record.name,
      version: entry.record.version,
      slots: entry.record.slots,
      freeSlots: freeSlotsOf(entry),
      machine: entry.record.machine,
      ...(entry.record.labels === undefined ? {} : { labels: entry.record.labels }),
      ...strengthOf(entry.record),
      clockOffsetUs: entry.record.clockOffsetUs,
      clockUncertaintyUs: entry.record.clockUncertaintyUs,
      connectedAt: entry.record.connectedAt.toISOString(),
    }));
  }
}

/** The part of an agent's facts that says how much its slots can do. */
export function strengthOf({ capacityHz, weight }: SlotStrength): SlotStrength {
  return { ...(capacityHz === undefined ? {} : { capacityHz }), ...(weight === undefined ? {} : { weight }) };
}

function roomOf(entry: Entry): AgentRoom {
  const { id: agentId, slots, labels = {} } = entry.record;
  return { agentId, slots, freeSlots: freeSlotsOf(entry), labels };
}

function freeSlotsOf(entry: Entry): number {
  if (entry.link === undefined || entry.isDraining) return 0;
  return Math.max(entry.record.slots - entry.reserved.size, 0);
}

/** None beside the shards of another run: that run's numbers would suffer for this one. */
function freeExtraSlotsOf({ record, link, isDraining, reserved }: Entry, runId: string): number {
  if (link === undefined || isDraining) return 0;
  if ([...reserved.values()].some((each) => each !== runId)) return 0;
  return Math.max(record.slots + record.extraSlots - Math.max(reserved.size, record.slots), 0);
}
