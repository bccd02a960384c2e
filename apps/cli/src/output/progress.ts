import {
  formatCount,
  formatDurationMs,
  formatLatencyUs,
  type LiveMessage,
  loadDurationMs,
  type Plan,
} from '@broadside/shared';

type ProgressPlan = Pick<Plan, 'requests' | 'durationMs' | 'warmupMs'>;
export type SecondMessage = Extract<LiveMessage, { kind: 'second' }>;

/**
 * One line about one second of a run, for people: what happened in it, and how far the run is.
 * A value that the second cannot have (no reply, no percentile) is left out instead of shown as 0.
 */
export function progressLine(message: SecondMessage, plan: ProgressPlan): string {
  const { second, total, generatorWarning } = message;
  const mark = second.isWarmup === true ? ' warm-up' : '';
  const parts = [`${second.second + 1}s${mark}`, `${formatCount(second.completed + second.failed)}/s`];
  parts.push(`${formatCount(total.failed)} failed`);
  if (second.p50Us !== undefined) parts.push(`p50 ${formatLatencyUs(second.p50Us)}`);
  if (second.p99Us !== undefined) parts.push(`p99 ${formatLatencyUs(second.p99Us)}`);
  const left = timeLeft(message, plan);
  if (left !== undefined) parts.push(left);
  // Said while it can still be acted on; the report judges the whole run.
  if (generatorWarning !== undefined) parts.push(`! ${generatorWarning}`);
  return parts.join('  ');
}

/** The nearer end of the run: percent of its requests, or the time left of its duration. */
function timeLeft(message: SecondMessage, plan: ProgressPlan): string | undefined {
  const ended = message.total.completed + message.total.failed;
  const elapsedMs = (message.second.second + 1) * 1_000;
  const byRequests = plan.requests === undefined ? 0 : Math.min(1, ended / plan.requests);
  const durationMs = loadDurationMs(plan);
  const byTime = durationMs === undefined ? 0 : Math.min(1, elapsedMs / durationMs);
  if (durationMs !== undefined && byTime >= byRequests) {
    return `${formatDurationMs(Math.max(0, durationMs - elapsedMs))} left`;
  }
  return plan.requests === undefined ? undefined : `${Math.floor(byRequests * 100)}%`;
}

/** Where lines of progress go. */
export interface ProgressOutput {
  readonly write: (text: string) => void;
  readonly isTerminal: boolean;
  readonly columns: number;
}

/** Draws one line again and again on a terminal, and writes plain lines, one a second at most, elsewhere. */
export class ProgressView {
  readonly #output: ProgressOutput;
  readonly #nowMs: () => number;
  #lastPlainMs = Number.NEGATIVE_INFINITY;
  #isDrawn = false;

  constructor(output: ProgressOutput, nowMs: () => number) {
    this.#output = output;
    this.#nowMs = nowMs;
  }

  /** Shows a passing line. */
  show(line: string): void {
    if (this.#output.isTerminal) {
      // A line that wraps could not be drawn over.
      this.#output.write(`\r\u001b[2K${line.slice(0, Math.max(10, this.#output.columns - 1))}`);
      this.#isDrawn = true;
      return;
    }
    const nowMs = this.#nowMs();
    if (nowMs - this.#lastPlainMs < 950) return;
    this.#lastPlainMs = nowMs;
    this.#output.write(`${line}\n`);
  }

  /** Writes a line that stays. */
  note(line: string): void {
    this.clear();
    this.#output.write(`${line}\n`);
  }

  /** Takes the passing line away, before anything else is written to the same terminal. */
  clear(): void {
    if (this.#isDrawn) this.#output.write('\r\u001b[2K');
    this.#isDrawn = false;
  }
}
