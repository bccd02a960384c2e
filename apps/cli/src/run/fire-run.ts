import { type LiveMessage, type Plan, printable, type Report } from '@broadside/shared';
import { CliError } from '../cli-error.js';
import { CoordinatorClient } from '../client/coordinator-client.js';
import type { OpenCluster } from '../cluster/open-cluster.js';
import type { StopSignals } from './stop-signals.js';

export interface FireRunOptions {
  readonly plan: Plan;
  /** Starts or names the cluster; awaited here, so that a signal during the start is heeded. */
  readonly openCluster: () => Promise<OpenCluster>;
  readonly signals: StopSignals;
  readonly onMessage: (message: LiveMessage) => void;
  /** A line for the person who waits. */
  readonly onNotice: (line: string) => void;
}

/**
 * Posts a plan, follows the run to its end and gives its report. The first signal stops the load, and the report
 * says what was done. The cluster is taken down again in every case.
 */
export async function fireRun(options: FireRunOptions): Promise<Report> {
  const { signals } = options;
  const tellWarnings = warningTeller(options.onNotice);
  const cluster = await options.openCluster();
  try {
    if (signals.exitCode !== undefined) {
      throw new CliError(signals.exitCode, 'stopped before the run was started; nothing was sent');
    }
    const client = new CoordinatorClient(cluster.address);
    const run = await client.createRun(options.plan);
    signals.onFirst(() => {
      options.onNotice('stopping the load; a second signal leaves at once');
      client.stopRun(run.id).catch((error: unknown) => {
        options.onNotice(error instanceof Error ? error.message : String(error));
      });
    });
    // Not with this file: what it needs is in memory by now, and must not come before the start of the cluster.
    const { followRun } = await import('../client/run-stream.js');
    const ended = await followRun({
      client,
      runId: run.id,
      onMessage: (message) => {
        tellWarnings(message);
        options.onMessage(message);
      },
      onConnection: (isReachable) =>
        options.onNotice(
          isReachable
            ? 'the coordinator is back'
            : `the coordinator at ${client.url} does not answer; waiting for it`,
        ),
    });
    if (ended.report === undefined) throw new TypeError('followRun gives a run with its report');
    return ended.report;
  } finally {
    await cluster.close();
  }
}

/** Says once what the agents find doubtful about their machines, as soon as the coordinator tells it. */
function warningTeller(onNotice: (line: string) => void): (message: LiveMessage) => void {
  const told = new Set<string>();
  return (message) => {
    if (message.kind !== 'state') return;
    for (const warning of message.warnings ?? []) {
      if (told.has(warning)) continue;
      told.add(warning);
      onNotice(`warning: ${printable(warning)}`);
    }
  };
}
