import { EXIT, type RunSummary } from '@broadside/shared';
import { CLIENT_FLAGS, clientOf } from '../client/client-flags.js';
import { type CoordinatorClient, RefusedError } from '../client/coordinator-client.js';
import { readFlags, refuseWords, wholeNumberFlag } from '../flags.js';
import { help } from '../help/runs.help.js';
import { type ListedRun, listedRun, runTable } from '../output/run-table.js';
import { writeOut } from '../output/streams.js';

export const FLAGS = {
  ...CLIENT_FLAGS,
  limit: { type: 'string' },
  json: { type: 'boolean' },
} as const;

const USUAL_LIMIT = 20;
/** As many as a coordinator lists. */
const MOST = 200;
/** Reports are asked for so many at a time. */
const AT_ONCE = 4;

/** `broadside runs`. */
export async function execute(words: readonly string[]): Promise<number> {
  const { values, positionals } = readFlags('runs', words, FLAGS);
  if (values.help === true) {
    await writeOut(help);
    return EXIT.ok;
  }
  refuseWords('runs', positionals);
  const limit = wholeNumberFlag('--limit', values.limit, { least: 1, most: MOST }) ?? USUAL_LIMIT;
  const client = await clientOf(values);
  const summaries = (await client.listRuns()).slice(0, limit);
  const runs: ListedRun[] = [];
  for (let from = 0; from < summaries.length; from += AT_ONCE) {
    const some = summaries.slice(from, from + AT_ONCE);
    runs.push(...(await Promise.all(some.map((summary) => withFigures(client, summary)))));
  }
  await writeOut(values.json === true ? `${JSON.stringify(runs, null, 2)}\n` : runTable(runs));
  return EXIT.ok;
}

/** What only the report tells; of a run that was forgotten since it was listed there is none. */
async function withFigures(client: CoordinatorClient, summary: RunSummary): Promise<ListedRun> {
  if (summary.endedAt === undefined) return summary;
  try {
    return listedRun(summary, (await client.readRun(summary.id)).report);
  } catch (error) {
    if (error instanceof RefusedError && error.status === 404) return summary;
    throw error;
  }
}
