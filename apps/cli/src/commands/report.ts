import { EXIT, exitCodeOf, type Report, type RunDetail } from '@broadside/shared';
import { CliError } from '../cli-error.js';
import { CLIENT_FLAGS, clientOf } from '../client/client-flags.js';
import { type CoordinatorClient, reportOfEnded } from '../client/coordinator-client.js';
import { findRun } from '../client/find-run.js';
import { readFlags } from '../flags.js';
import { help } from '../help/report.help.js';
import { openJsonDestination } from '../output/json-file.js';
import { showLive } from '../output/live-view.js';
import { ProgressView } from '../output/progress.js';
import { stderrProgress, writeOut } from '../output/streams.js';
import { writeReport } from '../output/write-report.js';

export const FLAGS = {
  ...CLIENT_FLAGS,
  wait: { type: 'boolean' },
  json: { type: 'string' },
  quiet: { type: 'boolean', short: 'q' },
} as const;

/** `broadside report`: what `broadside run` printed, or would have. */
export async function execute(words: readonly string[]): Promise<number> {
  const { values, positionals } = readFlags('report', words, FLAGS);
  if (values.help === true) {
    await writeOut(help);
    return EXIT.ok;
  }
  const [word, ...more] = positionals;
  if (word === undefined || more.length > 0) {
    throw new CliError(EXIT.usage, 'report: give the id of one run, as `broadside runs` lists them');
  }
  const { wait = false, quiet = false } = values;
  const json = values.json === undefined ? undefined : await openJsonDestination(values.json);
  const client = await clientOf(values);
  const run = await findRun(client, word);
  const report = reportOfEnded(run) ?? (wait ? await waitFor(client, run, quiet) : undefined);
  if (report === undefined) {
    const how = `\`broadside report ${run.id} --wait\` shows its progress, and its report at the end`;
    throw new CliError(EXIT.cluster, `run ${run.id} has not ended (${run.state}); ${how}`);
  }
  await writeReport(report, json);
  return exitCodeOf(report);
}

/** No signal is caught: whoever leaves only stops looking. */
async function waitFor(client: CoordinatorClient, run: RunDetail, isQuiet: boolean): Promise<Report> {
  const { followRun } = await import('../client/run-stream.js');
  const view = new ProgressView(stderrProgress(), () => performance.now());
  try {
    return await followRun({
      client,
      runId: run.id,
      onMessage: (message) => {
        if (!isQuiet) showLive(view, message, run.plan, false);
      },
      onNotice: (line) => view.note(`broadside: ${line}`),
    });
  } finally {
    view.clear();
  }
}
