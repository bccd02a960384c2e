/** A store that cannot be used. The message is one line: what, where, and what to do. Holds no secret. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
}
