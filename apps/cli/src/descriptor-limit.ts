// Loaded with main.ts, so it imports nothing of ours.
import { readFileSync } from 'node:fs';

/**
 * What a command needs before it has opened one connection: Node reads the modules of a command all at once (about
 * 290 files), and the embedded store has its files. Below this every command would end in EMFILE somewhere.
 */
const LEAST_DESCRIPTORS = 512;

/**
 * Why the limit of open files is too low to start anything; undefined where it is enough or unknown.
 * @param limits text of /proc/self/limits (proc(5)). Node has raised the soft limit to the hard one by now, so
 *   there is nothing left that we could raise.
 */
export function tooFewDescriptors(limits: string | undefined): string | undefined {
  const limit = /^Max open files\s+(\d+)/m.exec(limits ?? '')?.[1];
  if (limit === undefined || Number(limit) >= LEAST_DESCRIPTORS) return undefined;
  return (
    `only ${limit} open files are allowed here, and at least ${LEAST_DESCRIPTORS} are needed, ` +
    'plus one for each connection; raise the limit: ulimit -n 65536 (or LimitNOFILE= of the service)'
  );
}

export function readOwnLimits(): string | undefined {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return undefined; // Not on this system: then only the failure itself would tell.
  }
}
