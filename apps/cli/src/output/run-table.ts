/** The runs of a coordinator for people to read. Pure. */
import { formatCount, printable, type RunSummary } from '@broadside/shared';
import { minuteOf } from './minute-of.js';
import { tableOf } from './text-table.js';

const HEADINGS = ['ID', 'STATE', 'WHEN', 'REQUESTS', 'VERDICT', 'TARGET'] as const;

/** One line for each run, in columns. */
export function runTable(runs: readonly RunSummary[]): string {
  return runs.length === 0 ? 'no runs\n' : tableOf([HEADINGS, ...runs.map(cellsOf)]);
}

function cellsOf({ id, state, createdAt, completed, verdict, target, name }: RunSummary): string[] {
  return [
    id,
    state,
    minuteOf(createdAt),
    completed === undefined ? '-' : formatCount(completed),
    verdict ?? '-',
    name === undefined ? target : `${target} (${name})`,
  ].map(printable);
}
