/** Ends of runs that the store would not take: whoever asks for them is answered without it. */
import { type RunDetail, redactPlan } from '@broadside/shared';
import type { RunChange } from './run.repository.js';
import type { RunHead } from './run-services.js';

/** Reports may be large; the oldest go first. */
const MAX_KEPT = 20;

export class UnstoredEnds {
  readonly #details = new Map<string, RunDetail>();

  keep(head: RunHead, end: RunChange): void {
    this.#details.set(head.id, detailOfEnd(head, end));
    const [oldest] = this.#details.keys();
    if (this.#details.size > MAX_KEPT && oldest !== undefined) this.#details.delete(oldest);
  }

  find(runId: string): RunDetail | undefined {
    return this.#details.get(runId);
  }
}

/** The run as it ended, without its secrets. Pure. */
export function detailOfEnd({ id, plan, createdAt }: RunHead, end: RunChange): RunDetail {
  const { state, reason, endedAt, report } = end;
  const startedAt = report?.run.startedAt;
  return {
    id,
    state,
    ...(reason === undefined ? {} : { reason }),
    target: plan.target,
    ...(plan.name === undefined ? {} : { name: plan.name }),
    createdAt: createdAt.toISOString(),
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(endedAt === undefined ? {} : { endedAt: endedAt.toISOString() }),
    plan: redactPlan(plan),
    ...(report === undefined
      ? {}
      : { report, completed: report.counters.completed, verdict: report.verdict.outcome }),
  };
}
