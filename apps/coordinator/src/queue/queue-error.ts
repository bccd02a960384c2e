/** A queue that cannot be used. The message is one line: what, where, and what to do. Holds no secret. */
export class QueueError extends Error {
  override readonly name = 'QueueError';
}
