/** The runs of a coordinator for people to read. Pure. */
import { formatCount, printable, type Report, type RunSummary } from '@broadside/shared';
import { minuteOf } from './minute-of.js';
import { tableOf } from './text-table.js';

const HEADINGS = ['ID', 'STATE', 'WHEN', 'REQUESTS', 'VERDICT', 'TARGET'] as const;

/** A run in the list, with what its report says, if it has one. */
export interface ListedRun extends RunSummary {
  /** Complete requests. */
  readonly completed?: number;
  readonly verdict?: Report['verdict']['outcome'];
}

export function listedRun(summary: RunSummary, report: Report | undefined): ListedRun {
  if (report === undefined) return summary;
  return { ...summary, completed: report.counters.completed, verdict: report.verdict.outcome };
}

/** One line for each run, in columns. */
export function runTable(runs: readonly ListedRun[]): string {
  return runs.length === 0 ? 'no runs\n' : tableOf([HEADINGS, ...runs.map(cellsOf)]);
}

function cellsOf({ id, state, createdAt, completed, verdict, target, name }: ListedRun): string[] {
  return [
    id,
    state,
    minuteOf(createdAt),
    completed === undefined ? '-' : formatCount(completed),
    verdict ?? '-',
    name === undefined ? target : `${target} (${name})`,
  ].map(printable);
}
