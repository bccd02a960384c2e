/** The idempotent methods of RFC 9110 section 9.2.2. */
const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'TRACE']);

/** Whether a request of this method may be sent again when nobody knows whether it was carried out. */
export function mayRepeat(method: string): boolean {
  return IDEMPOTENT.has(method);
}
