/** Why the queue did not take something, in one short line for reports and logs. Pure. */

const MAX_REASON_LENGTH = 200;
/** What ioredis says of a connection that is not there, in words that name settings of ours. */
const NO_CONNECTION = /max retries per request|isn't writeable|connection is closed|command timed out/i;
/** Where in a script of BullMQ it happened, which tells nobody anything. */
const SCRIPT_PLACE = /\s*(script: [0-9a-f]{40}.*|at @user_script.*|on @user_script.*)$/s;

export function queueReason(error: unknown): string {
  const message = firstCause(error).replaceAll(/\s+/g, ' ').trim();
  if (NO_CONNECTION.test(message)) return 'it does not answer';
  return message.replace(SCRIPT_PLACE, '').slice(0, MAX_REASON_LENGTH);
}

/** A transaction is discarded because of the commands in it: those say why. */
function firstCause(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const previous: unknown = 'previousErrors' in error ? error.previousErrors : undefined;
  const first: unknown = Array.isArray(previous) ? previous[0] : undefined;
  return first instanceof Error ? first.message : error.message;
}
