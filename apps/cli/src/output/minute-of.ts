/** `2026-01-31 12:34Z`, for people. */
export function minuteOf(isoTime: string): string {
  return `${isoTime.slice(0, 16).replace('T', ' ')}Z`;
}
