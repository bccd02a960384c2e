import { EXIT, type RunDetail, type RunSummary, runIdSchema } from '@broadside/shared';
import { CliError } from '../cli-error.js';
import type { CoordinatorClient } from './coordinator-client.js';

const WHOLE_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * The run with this id, or the only one of those that the coordinator lists whose id begins so.
 * @throws CliError with EXIT.usage for what can be no id or is that of several, with EXIT.cluster where there is none.
 */
export async function findRun(client: CoordinatorClient, word: string): Promise<RunDetail> {
  if (!runIdSchema.safeParse(word).success) {
    throw new CliError(EXIT.usage, `${JSON.stringify(word)} is no run id; \`broadside runs\` lists them`);
  }
  return await client.readRun(WHOLE_ID.test(word) ? word : onlyRunOf(word, await client.listRuns()));
}

/** The id that begins so. @throws CliError as `findRun`. */
export function onlyRunOf(prefix: string, runs: readonly Pick<RunSummary, 'id'>[]): string {
  const [first, ...others] = runs.filter(({ id }) => id.startsWith(prefix));
  if (first === undefined) {
    const hint = '`broadside runs` lists the newest; of an older one give the whole id';
    throw new CliError(EXIT.cluster, `there is no run ${prefix}…; ${hint}`);
  }
  if (others.length > 0) {
    const count = others.length + 1;
    throw new CliError(EXIT.usage, `the ids of ${count} runs begin with ${prefix}; give more of it`);
  }
  return first.id;
}
