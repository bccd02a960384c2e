// Which real programs (nginx, redis-server, postgres, ab, wrk) this machine has.
// A developer without them skips those tests; in CI they are required, so there a missing one fails.

import { findProgram, type ProgramName, packageOfProgram } from '../../tools/debian-programs.mjs';

export type { ProgramName };

/** For `describe.runIf(canRun('nginx', 'ab'))`. Always true in CI, so that a missing program fails there. */
export function canRun(...names: readonly ProgramName[]): boolean {
  if (isCi()) return true;
  return names.every((name) => findProgram(name) !== undefined);
}

/** The program's path. Throws, naming the Debian package, when it is not installed. */
export function programPath(name: ProgramName): string {
  const path = findProgram(name);
  if (path === undefined) {
    throw new Error(`${name} is not installed: apt-get install ${packageOfProgram[name]}`);
  }
  return path;
}

function isCi(): boolean {
  const value = process.env['CI'];
  return value !== undefined && value !== '' && value !== 'false' && value !== '0';
}
