import type { AgentFacts } from '@broadside/shared';
import type { AgentRegistry } from '../agent/agent-registry.js';
import type { ShardProgress } from './shard-progress.js';
import { WarningList } from './warning-list.js';

/** The agents that have a part in one run: remembered after they have gone, because the report names them. */
export class RunAgents {
  readonly #registry: AgentRegistry;
  readonly #warnings = new WarningList();
  readonly #facts = new Map<string, AgentFacts>();

  constructor(registry: AgentRegistry, shards: readonly ShardProgress[]) {
    this.#registry = registry;
    for (const { agentId } of shards) {
      const record = registry.get(agentId);
      if (record === undefined || this.#facts.has(agentId)) continue;
      const { name, version, slots, machine, clockOffsetUs, clockUncertaintyUs } = record;
      const facts = {
        agentId,
        name,
        version,
        slots,
        machine,
        clockOffsetUs,
        clockUncertaintyUs,
        lost: false,
      };
      this.#facts.set(agentId, facts);
    }
  }

  get count(): number {
    return this.#facts.size;
  }

  /** What the agents find doubtful about their machines, each sentence once, with the agent's name. */
  get warnings(): string[] {
    return this.#warnings.list();
  }

  /** Takes the warnings that come with `ready`; they may come again, and from every shard of an agent. */
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
