// One shard of a plan, as the coordinator cuts it, run by an engine in this thread with its books checked.

import { type Plan, type PlanInput, parsePlan, splitPlan } from '@broadside/shared';
import {
  type FinishedRun,
  type RunHooks,
  runShardAgainst,
} from '../../libs/engine/dist/testing/run-shard-against.js';

function planOf(given: PlanInput): Plan {
  const parsed = parsePlan(given);
  if (!parsed.ok)
    throw new Error(parsed.problems.map(({ path, message }) => `${path}: ${message}`).join('; '));
  return parsed.plan;
}

/** @throws Error with the refusal's message when the shard cannot be run. */
export function runPlan(given: PlanInput, hooks: RunHooks = {}): Promise<FinishedRun> {
  const [shard] = splitPlan(planOf(given), 'run-1', 1);
  if (shard === undefined) throw new Error('a plan has at least one shard');
  return runShardAgainst(shard, hooks);
}

/** Names that only the test knows. */
export function namesAre(names: Readonly<Record<string, readonly string[]>>): RunHooks {
  return {
    lookup: async (host) =>
      (names[host] ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
  };
}
