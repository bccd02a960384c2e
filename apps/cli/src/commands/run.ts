import {
  EXIT,
  exitCodeOf,
  formatDurationMs,
  type LiveMessage,
  type Plan,
  summaryText,
} from '@broadside/shared';
import { assertPlanFits } from '../client/coordinator-client.js';
import { chooseCluster } from '../cluster/choose-cluster.js';
import { help } from '../help/run.help.js';
import { type JsonDestination, openJsonDestination } from '../output/json-file.js';
import { writeJsonReport } from '../output/json-report.js';
import { ProgressView, progressLine } from '../output/progress.js';
import { columnsOf, stderrProgress, writeOut } from '../output/streams.js';
import { fireRun } from '../run/fire-run.js';
import { type RunRequest, readRunRequest } from '../run/run-flags.js';
import { exitCodeOfSignal, StopSignals } from '../run/stop-signals.js';

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
        if (request.quiet) return;
        if (message.kind === 'second') {
          view.showSecond(progressLine(message, request.plan, signals.received !== undefined));
          return;
        }
        const line = stateLine(message, request.plan);
        if (line !== undefined) view.show(line);
      },
      onNotice: (line) => view.note(`broadside: ${line}`),
    });
    view.clear();
    const text = summaryText(report, columnsOf(json?.isStdout === true ? process.stderr : process.stdout));
    if (json?.isStdout === true) process.stderr.write(text);
    else await writeOut(text);
    await writeJsonReport(json, report);
    return signals.received === undefined ? exitCodeOf(report) : exitCodeOfSignal(signals.received);
  } finally {
    view.clear();
    signals.dispose();
  }
}

function queuedLine({ reason, position }: Extract<LiveMessage, { kind: 'state' }>): string {
  const place = position === undefined ? 'queued' : `queued, place ${position}`;
  return reason === undefined ? place : `${place}: ${reason}`;
}

/** What a state means to a person, or undefined where it says nothing new. */
function stateLine(message: Extract<LiveMessage, { kind: 'state' }>, plan: Plan): string | undefined {
  switch (message.state) {
    case 'queued':
      return queuedLine(message);
    case 'preparing':
      return 'preparing: the slots open their connections';
    case 'running':
      return plan.durationMs === undefined ? 'running' : `running for ${formatDurationMs(plan.durationMs)}`;
    case 'closing':
      return 'closing: the last intervals come in';
    case 'finished':
    case 'aborted':
    case 'failed':
      return undefined;
  }
}
