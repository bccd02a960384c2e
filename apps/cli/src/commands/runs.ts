import { EXIT, LIMITS } from '@broadside/shared';
import { CLIENT_FLAGS, clientOf } from '../client/client-flags.js';
import { readFlags, refuseWords, wholeNumberFlag } from '../flags.js';
import { help } from '../help/runs.help.js';
import { runTable } from '../output/run-table.js';
import { writeOut } from '../output/streams.js';

export const FLAGS = {
  ...CLIENT_FLAGS,
  limit: { type: 'string' },
  json: { type: 'boolean' },
} as const;

const USUAL_LIMIT = 20;

/** `broadside runs`. */
export async function execute(words: readonly string[]): Promise<number> {
  const { values, positionals } = readFlags('runs', words, FLAGS);
  if (values.help === true) {
    await writeOut(help);
    return EXIT.ok;
  }
  refuseWords('runs', positionals);
  const limit =
    wholeNumberFlag('--limit', values.limit, { least: 1, most: LIMITS.maxListedRuns }) ?? USUAL_LIMIT;
  const client = await clientOf(values);
  const runs = await client.listRuns(limit);
  await writeOut(values.json === true ? `${JSON.stringify(runs, null, 2)}\n` : runTable(runs));
  return EXIT.ok;
}
