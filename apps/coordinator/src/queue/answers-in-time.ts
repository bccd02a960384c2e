/** A store or queue that takes longer does not count as reachable. */
const CHECK_TIMEOUT_MS = 2_000;

/** False as well when the check fails: why it does is in the log of whoever owns the connection. */
export async function answersInTime(check: Promise<boolean>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), CHECK_TIMEOUT_MS);
  });
  const answer = check.catch(() => false);
  const isReachable = await Promise.race([answer, timeout]);
  clearTimeout(timer);
  return isReachable;
}
