/** Longest wait for one part that is closing; whoever ends a command must not hang on it. */
const CLOSE_TIMEOUT_MS = 5_000;

/** Waits for parts that are closing, but not for ever, and not for a part that fails to. */
export async function closeWithin(
  parts: readonly (() => Promise<void>)[],
  mostMs = CLOSE_TIMEOUT_MS,
): Promise<void> {
  for (const close of parts) {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, mostMs);
    });
    // A part that cannot be closed ends with the process; the report is out and must not be followed by a trace.
    await Promise.race([close().catch(() => undefined), timeout]);
    clearTimeout(timer);
  }
}
