import { availableParallelism } from 'node:os';
import { EXIT, exitCodeOf, formatCounted, type Plan, parsePlan, summaryText } from '@broadside/shared';
import { chooseCluster } from '../cluster/choose-cluster.js';
import { closeWithin } from '../cluster/closing.js';
import { readFlags, refuseWords } from '../flags.js';
import { help } from '../help/demo.help.js';
import { ProgressView, progressLine } from '../output/progress.js';
import { columnsOf, stderrProgress, writeOut } from '../output/streams.js';
import { fireRun } from '../run/fire-run.js';
import { exitCodeOfSignal, StopSignals } from '../run/stop-signals.js';
import { startTrialTarget } from '../target/trial-target.js';
import { transportFlag } from '../transport-flag.js';

/** Long enough for a few lines of progress, short enough for a first impression. */
const DURATION_MS = 4_000;
const CONNECTIONS = 20;
const REPLY_BYTES = 100;

export const FLAGS = {
  transport: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** `broadside demo`: everything real, everything on this machine, nothing left behind. */
export async function execute(words: readonly string[]): Promise<number> {
  const { values, positionals } = readFlags('demo', words, FLAGS);
  if (values.help === true) {
    await writeOut(help);
    return EXIT.ok;
  }
  refuseWords('demo', positionals);
  const transport = transportFlag(values.transport);
  const signals = new StopSignals();
  const view = new ProgressView(stderrProgress(), () => performance.now());
  const target = await startTrialTarget({
    host: '127.0.0.1',
    port: 0,
    processes: Math.max(1, Math.floor(availableParallelism() / 2)),
    sizeBytes: REPLY_BYTES,
    delayMs: 0,
  });
  try {
    await writeOut(introduction(target.url));
    const plan = demoPlan(target.url);
    const report = await fireRun({
      plan,
      // The demo shows this machine, whatever BROADSIDE_COORDINATOR says.
      openCluster: chooseCluster({ plan, transport, onSlowStart: () => view.show('starting…') }),
      signals,
      onMessage: (message) => {
        if (message.kind !== 'second') return;
        view.showSecond(progressLine(message, plan, signals.received !== undefined));
      },
      onNotice: (line) => view.note(`broadside: ${line}`),
    });
    view.clear();
    await writeOut(`\n${summaryText(report, columnsOf(process.stdout))}\n${nextSteps()}`);
    return signals.received === undefined ? exitCodeOf(report) : exitCodeOfSignal(signals.received);
  } finally {
    view.clear();
    await closeWithin([() => target.close()]);
    signals.dispose();
  }
}

function demoPlan(url: string): Plan {
  const parsed = parsePlan({
    name: 'demo',
    target: url,
    connections: CONNECTIONS,
    durationMs: DURATION_MS,
    probe: true,
  });
  if (!parsed.ok)
    throw new TypeError(`the plan of the demo is not valid: ${JSON.stringify(parsed.problems)}`);
  return parsed.plan;
}

function introduction(url: string): string {
  return [
    `A target is listening on ${url} (a few processes that answer ${REPLY_BYTES} bytes).`,
    `A coordinator and ${formatCounted(availableParallelism(), 'slot')} start in this process.`,
    `${CONNECTIONS} connections are kept busy for ${DURATION_MS / 1_000} seconds.`,
    '',
  ].join('\n');
}

function nextSteps(): string {
  return [
    'How to go on:',
    '  ./broadside target --port 8080                                   a target of your own',
    '  ./broadside ab -n 100000 -c 100 -k http://127.0.0.1:8080/        what ab would print, from all cores',
    '  ./broadside run -d 10s -c 50 http://127.0.0.1:8080/              the same run with our own report',
    '  ./broadside help                                                 everything else',
    '',
  ].join('\n');
}
