/** Waits for something at most this long; false when the time was over first. A late failure is ignored. */
export async function within(timeoutMs: number, awaited: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), timeoutMs);
  });
  try {
    return await Promise.race([awaited.then(() => true), timeout]);
  } finally {
    clearTimeout(timer);
  }
}
