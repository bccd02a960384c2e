import { formatDurationMs, type LiveMessage, type Plan } from '@broadside/shared';
import { type ProgressView, progressLine } from './progress.js';

/** Shows what the live stream of a run tells. */
export function showLive(view: ProgressView, message: LiveMessage, plan: Plan, isStopping: boolean): void {
  if (message.kind === 'second') {
    view.showSecond(progressLine(message, plan, isStopping));
    return;
  }
  const line = stateLine(message, plan);
  if (line !== undefined) view.show(line);
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
