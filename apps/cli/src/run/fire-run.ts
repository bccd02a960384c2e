import { setTimeout as delay } from 'node:timers/promises';
import { type LiveMessage, type Plan, printable, type Report, ROUTES } from '@broadside/shared';
import { CliError } from '../cli-error.js';
import { CoordinatorClient, LockedOutError, UnreachableError } from '../client/coordinator-client.js';
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

const STOP_RETRY_MS = 500;

/**
 * Posts a plan, follows the run to its end and gives its report. The first signal stops the load, and the report
 * says what was done. The cluster is taken down again in every case.
 */
export async function fireRun(options: FireRunOptions): Promise<Report> {
  const { signals } = options;
  const tellWarnings = warningTeller(options.onNotice);
  const cluster = await options.openCluster();
  let isOver = false;
  try {
    if (signals.exitCode !== undefined) {
      throw new CliError(signals.exitCode, 'stopped before the run was started; nothing was sent');
    }
    const client = new CoordinatorClient(cluster.address);
    const { id } = await client.createRun(options.plan);
    const later = `for the report of run ${id}, later: broadside report ${id} --coordinator ${client.url}`;
    signals.onFirst(() => {
      options.onNotice('stopping the load; a second signal leaves at once');
      void stopUntilHeard(client, { runId: id, isOver: () => isOver, onNotice: options.onNotice });
    });
    if (cluster.isLasting) signals.onSecond(() => options.onNotice(later));
    // Not with this file: what it needs is in memory by now, and must not come before the start of the cluster.
    const { followRun } = await import('../client/run-stream.js');
    try {
      return await followRun({
        client,
        runId: id,
        onMessage: (message) => {
          tellWarnings(message);
          options.onMessage(message);
        },
        onNotice: options.onNotice,
      });
    } catch (error) {
      if (!cluster.isLasting) throw error;
      if (error instanceof LockedOutError) {
        throw new CliError(error.exitCode, `${error.message}; ${goesOn(client.url, id)}`, error);
      }
      if (!(error instanceof UnreachableError)) throw error;
      throw new CliError(error.exitCode, `${error.message}; ${later}`, error);
    }
  } finally {
    isOver = true;
    await cluster.close();
  }
}

/** A run belongs to the coordinator: it does not end with the token that began it. */
function goesOn(url: string, runId: string): string {
  return (
    `the load of run ${runId} goes on; with a good token, \`broadside kill --coordinator ${url}\` stops all load, ` +
    `DELETE ${url}${ROUTES.runs}/${runId} this run, and its report is: broadside report ${runId} --coordinator ${url}`
  );
}

interface Stopping {
  readonly runId: string;
  readonly isOver: () => boolean;
  readonly onNotice: (line: string) => void;
}

/** A coordinator that is away just now is told when it is back: the load must not outlive the wish to stop it. */
async function stopUntilHeard(
  client: CoordinatorClient,
  { runId, isOver, onNotice }: Stopping,
): Promise<void> {
  for (let attempt = 1; !isOver(); attempt++) {
    try {
      await client.stopRun(runId);
      return;
    } catch (error) {
      if (!(error instanceof UnreachableError)) {
        onNotice(error instanceof Error ? error.message : String(error));
        return;
      }
      if (isOver()) return;
      if (attempt === 1) onNotice('the coordinator has not heard of it yet; trying again');
    }
    await delay(STOP_RETRY_MS, undefined, { ref: false });
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
