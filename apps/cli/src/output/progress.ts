import {
  formatCount,
  formatDurationMs,
  formatLatencyUs,
  isPaced,
  type LiveMessage,
  loadDurationMs,
  type Plan,
} from '@broadside/shared';

type ProgressPlan = Pick<Plan, 'requests' | 'durationMs' | 'warmupMs' | 'rate' | 'stages'>;
export type SecondMessage = Extract<LiveMessage, { kind: 'second' }>;

/** A second that sends less than this share of what it planned is behind its rate. */
const BEHIND_SHARE = 0.9;

/**
 * One line about one second of a run, for people: what happened in it, and how far the run is.
 * A value that the second cannot have (no reply, no percentile) is left out instead of shown as 0.
 * @param isStopping somebody has ended the load, so nothing is left of its time.
 */
export function progressLine(message: SecondMessage, plan: ProgressPlan, isStopping = false): string {
  const { second, total, generatorWarning } = message;
  const mark = second.isWarmup === true ? ' warm-up' : '';
  const ended = formatCount(second.completed + second.failed);
  const isRest = isStopping || isAfterLoad(message, plan);
  // What trickles in after the last send is no rate of anything.
  const parts = [`${second.second + 1}s${mark}`, isRest ? `${ended} ended` : `${ended}/s`];
  parts.push(`${formatCount(total.failed)} failed`);
  if (second.p50Us !== undefined) parts.push(`p50 ${formatLatencyUs(second.p50Us)}`);
  if (second.p99Us !== undefined) parts.push(`p99 ${formatLatencyUs(second.p99Us)}`);
  const left = isStopping ? 'stopping' : isRest ? 'the last replies' : timeLeft(message, plan);
  if (left !== undefined) parts.push(left);
  // Said while it can still be acted on; the report judges the whole run.
  const warnings = [generatorWarning, isStopping ? undefined : behindWarning(message, plan)];
  for (const warning of warnings) if (warning !== undefined) parts.push(`! ${warning}`);
  return parts.join('  ');
}

/** Whether the time of the load was over before this second began. */
function isAfterLoad({ second }: SecondMessage, plan: ProgressPlan): boolean {
  const durationMs = loadDurationMs(plan);
  return durationMs !== undefined && second.second * 1_000 >= durationMs;
}

function behindWarning({ second }: SecondMessage, plan: ProgressPlan): string | undefined {
  const { planned, sent } = second;
  if (!isPaced(plan) || planned - sent < 2 || sent >= planned * BEHIND_SHARE) return undefined;
  // The second in which a budget ends plans all that is left of it.
  if (plan.requests !== undefined && (plan.rate === undefined || planned > plan.rate * 1.1)) return undefined;
  return `behind the rate: ${formatCount(sent)} of ${formatCount(planned)} sent`;
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

/**
 * Draws one line again and again on a terminal, and writes plain lines elsewhere: of seconds all, although they may
 * come in bursts, of other things one a second at most.
 */
export class ProgressView {
  readonly #output: ProgressOutput;
  readonly #nowMs: () => number;
  #lastPlainMs = Number.NEGATIVE_INFINITY;
  #isDrawn = false;

  constructor(output: ProgressOutput, nowMs: () => number) {
    this.#output = output;
    this.#nowMs = nowMs;
  }

  /** Shows the line of a second. None is left out, so that no gap looks like a pause of the load. */
  showSecond(line: string): void {
    this.#lastPlainMs = Number.NEGATIVE_INFINITY;
    this.show(line);
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
