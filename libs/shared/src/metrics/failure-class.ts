/**
 * The closed set of ways in which one request can fail. One request falls into exactly one class, so that
 * failed ≤ sent always holds (`ab` counts one reset up to three times).
 */
export const FAILURE_CLASSES = [
  /** The target refused the connection. */
  'connectRefused',
  /** No answer to the connection attempt within the timeout. */
  'connectTimeout',
  /** Host or network unreachable. */
  'connectUnreachable',
  /** The load machine had no local port left for this target. */
  'noLocalPort',
  /** The load machine had no file descriptor left. */
  'noDescriptor',
  /** Any other failure to connect. */
  'connectOther',
  /** TLS handshake or record failure. */
  'tls',
  /** The request could not be written. */
  'write',
  /** The target reset the connection before the first byte of the reply. */
  'resetBeforeFirstByte',
  /** The target reset the connection in the middle of the reply. */
  'resetAfterFirstByte',
  /** A new connection was closed without a byte of reply. */
  'closedWithoutReplyNew',
  /** A reused connection was closed without a byte of reply and without announcement. */
  'closedWithoutReplyReused',
  /** In a pipeline behind a reply that its connection ended with: announced close, unreadable, or too late. */
  'pipelineEnded',
  /** The reply ended before its promised end. */
  'truncated',
  /** The reply was not HTTP, or was there before the request was sent. */
  'malformed',
  /** The reply exceeded a limit of the plan. */
  'tooLarge',
  /** No complete reply within the timeout. */
  'timeout',
  /** A complete reply whose body length differs from the reference reply's. */
  'lengthDiffers',
  /** A complete reply whose status is not 2xx, where the plan counts this as a failure. */
  'status',
] as const;

export type FailureClass = (typeof FAILURE_CLASSES)[number];

/** Position of each class in `FAILURE_CLASSES`; the hot path works with these integers. */
export const FAILURE: Readonly<Record<FailureClass, number>> = Object.freeze(
  Object.fromEntries(FAILURE_CLASSES.map((name, index) => [name, index])) as Record<FailureClass, number>,
);
