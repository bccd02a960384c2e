import { EXIT, exitCodeOf } from '@broadside/shared';
import { assertPlanFits } from '../client/coordinator-client.js';
import { chooseCluster } from '../cluster/choose-cluster.js';
import { help } from '../help/run.help.js';
import { type JsonDestination, openJsonDestination } from '../output/json-file.js';
import { showLive } from '../output/live-view.js';
import { ProgressView } from '../output/progress.js';
import { stderrProgress, writeOut } from '../output/streams.js';
import { writeReport } from '../output/write-report.js';
import { fireRun } from '../run/fire-run.js';
import { FLAGS, type RunRequest, readRunRequest } from '../run/run-flags.js';
import { exitCodeOfSignal, StopSignals } from '../run/stop-signals.js';

export { FLAGS };

/** `broadside run`. */
export async function execute(words: readonly string[]): Promise<number> {
  const request = await readRunRequest(words);
  if (request === 'help') {
    await writeOut(help);
    return EXIT.ok;
  }
  assertPlanFits(request.plan);
  const json = request.jsonFile === undefined ? undefined : await openJsonDestination(request.jsonFile);
  return await fireAndReport(request, json);
}

async function fireAndReport(request: RunRequest, json: JsonDestination | undefined): Promise<number> {
  const view = new ProgressView(stderrProgress(), () => performance.now());
  const openCluster = chooseCluster({
    remote: {
      flag: '--coordinator',
      url: request.coordinatorUrl,
      token: request.token,
      tokenFile: request.tokenFile,
      caFile: request.caFile,
    },
    plan: request.plan,
    transport: request.transport,
    onSlowStart: () => process.stderr.isTTY && !request.quiet && view.show('starting…'),
  });
  const signals = new StopSignals();
  try {
    const report = await fireRun({
      plan: request.plan,
      openCluster,
      signals,
      onMessage: (message) => {
        if (!request.quiet) showLive(view, message, request.plan, signals.received !== undefined);
      },
      onNotice: (line) => view.note(`broadside: ${line}`),
    });
    view.clear();
    await writeReport(report, json);
    return signals.received === undefined ? exitCodeOf(report) : exitCodeOfSignal(signals.received);
  } finally {
    view.clear();
    signals.dispose();
  }
}
