import { printable, shortRunId } from '@broadside/shared';

/** pino's numbers. */
const WARN_LEVEL = 40;
const ERROR_LEVEL = 50;

/** As pino writes it; what a caller adds may be anything. */
interface LogRecord {
  readonly level: number;
  readonly time: number;
  readonly msg?: string;
  readonly run?: unknown;
  readonly err?: unknown;
  readonly error?: unknown;
  readonly reason?: unknown;
}

/**
 * A line of the log for people: when, how bad, what, and why. Names and reasons may come from other machines, so
 * nothing in it can move the cursor.
 * @param line one JSON object as pino writes it, with `time` in ms.
 */
export function logText(line: string): string {
  const record: unknown = JSON.parse(line);
  const { level, time, msg = '', run, err, error, reason } = record as LogRecord;
  const when = new Date(time).toISOString().replace(/\.\d+/, '');
  const mark = level >= ERROR_LEVEL ? 'error: ' : level >= WARN_LEVEL ? 'warning: ' : '';
  const why = [err, error, reason].map(messageOf).find((text) => text !== undefined);
  return printable(`${when} ${mark}${withRun(msg, run)}${why === undefined ? '' : `: ${why}`}`);
}

/** Which run a line is about, where its words do not say so. */
function withRun(text: string, run: unknown): string {
  if (typeof run !== 'string' || text.includes(run)) return text;
  const name = `run ${shortRunId(run)}`;
  return text.startsWith('run ') ? `${name} ${text.slice('run '.length)}` : `${name}: ${text}`;
}

function messageOf(cause: unknown): string | undefined {
  if (typeof cause === 'string') return cause;
  if (typeof cause !== 'object' || cause === null || !('message' in cause)) return undefined;
  return typeof cause.message === 'string' ? cause.message : undefined;
}
