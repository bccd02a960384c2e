import type { AgentFacts } from '@broadside/shared';
import { type AgentRegistry, strengthOf } from '../agent/agent-registry.js';
import type { ShardProgress } from './shard-progress.js';
import { type HostPart, sharedHostWarnings } from './shared-hosts.js';
import { MAX_WARNINGS, WarningList } from './warning-list.js';

/** The agents that have a part in one run: remembered after they have gone, because the report names them. */
export class RunAgents {
  readonly #registry: Pick<AgentRegistry, 'get'>;
  readonly #warnings = new WarningList();
  readonly #facts = new Map<string, AgentFacts>();
  /** Slots and connections that each agent was first given of the run. */
  readonly #given = new Map<string, { slots: number; connections: number }>();

  constructor(registry: Pick<AgentRegistry, 'get'>, shards: readonly ShardProgress[]) {
    this.#registry = registry;
    for (const { agentId, shard } of shards) {
      this.add(agentId);
      const given = this.#given.get(agentId) ?? { slots: 0, connections: 0 };
      this.#given.set(agentId, given);
      if (shard.attempt > 1) continue;
      given.slots++;
      given.connections += shard.connections;
    }
  }

  /** An agent that gets a shard. */
  add(agentId: string): void {
    const record = this.#registry.get(agentId);
    if (record === undefined || this.#facts.has(agentId)) return;
    const { name, version, slots, machine, labels, clockOffsetUs, clockUncertaintyUs } = record;
    this.#facts.set(agentId, {
      agentId,
      name,
      version,
      slots,
      machine,
      ...(labels === undefined ? {} : { labels }),
      ...strengthOf(record),
      clockOffsetUs,
      clockUncertaintyUs,
      lost: false,
    });
  }

  /** Takes up what an earlier coordinator knew. */
  restore(facts: readonly AgentFacts[], warnings: readonly string[]): void {
    for (const each of facts) this.#facts.set(each.agentId, each);
    this.#warnings.restore(warnings);
  }

  get count(): number {
    return this.#facts.size;
  }

  /** What the agents find doubtful about their machines, each sentence once, with the agent's name. */
  get warnings(): string[] {
    return [...new Set([...this.#warnings.list(), ...sharedHostWarnings(this.#parts())])].slice(
      0,
      MAX_WARNINGS,
    );
  }

  #parts(): HostPart[] {
    return [...this.#facts.values()].map(({ agentId, name, machine }) => {
      const { slots = 0, connections = 0 } = this.#given.get(agentId) ?? {};
      return { name, machine, slots, connections };
    });
  }

  /**
   * Takes the warnings that come with `ready`; they may come again, and from every shard of an agent.
   * @param agentId of somebody else than an agent: its name.
   */
  warn(agentId: string, warnings: readonly string[]): void {
    const name = this.#facts.get(agentId)?.name ?? agentId;
    for (const warning of warnings) this.#warnings.add(name, warning);
  }

  markLost(agentId: string): void {
    const facts = this.#facts.get(agentId);
    if (facts !== undefined) this.#facts.set(agentId, { ...facts, lost: true });
  }

  /** What is known now; the clocks are those of the last estimate. */
  facts(): AgentFacts[] {
    return [...this.#facts.values()].map((facts) => {
      const now = this.#registry.get(facts.agentId);
      if (now === undefined) return facts;
      const { clockOffsetUs, clockUncertaintyUs } = now;
      return { ...facts, clockOffsetUs, clockUncertaintyUs };
    });
  }
}
