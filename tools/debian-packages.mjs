// Installs the Debian packages whose programs the tests start, where that is possible without asking anybody.

import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { findProgram, packageOfProgram, programNames } from './debian-programs.mjs';

/** Asked by every package before it starts its service: 101 means "do not". */
const POLICY = '/usr/sbin/policy-rc.d';

/**
 * @typedef {(command: string, args: string[]) => boolean} Run runs a command, true when it succeeded
 * @typedef {object} Machine
 * @property {boolean} isRoot
 * @property {boolean} hasApt
 * @property {Run} run
 * @property {(name: import('./debian-programs.mjs').ProgramName) => string | undefined} find
 * @property {(isKept: boolean) => void} keepServicesDown called with true before packages are installed, with
 *   false afterwards
 */

/** @param {Run} run @returns {Machine} */
export function thisMachine(run) {
  let isOurs = false;
  return {
    isRoot: process.getuid?.() === 0,
    hasApt: existsSync('/usr/bin/apt-get'),
    run,
    find: findProgram,
    keepServicesDown(isKept) {
      if (isKept && !existsSync(POLICY)) {
        writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
        isOurs = true;
      } else if (!isKept && isOurs) {
        rmSync(POLICY, { force: true });
      }
    },
  };
}

/**
 * Installs what is missing, or finds out why it cannot.
 * @param {Machine} machine
 * @returns {string | undefined} one line about what stays missing and what that means
 */
export function installMissingPrograms(machine) {
  let missing = missingPrograms(machine);
  if (missing.length === 0) return undefined;
  if (machine.isRoot && machine.hasApt) {
    machine.keepServicesDown(true);
    try {
      // One mirror of several may fail to answer, so the installation is tried whatever the update said.
      machine.run('apt-get', ['update']);
      machine.run('apt-get', ['install', '-y', '--no-install-recommends', ...packagesOf(missing)]);
    } finally {
      machine.keepServicesDown(false);
    }
    missing = missingPrograms(machine);
    if (missing.length === 0) return undefined;
  }
  const advice = machine.hasApt ? `apt-get install ${packagesOf(missing).join(' ')}` : 'install them';
  return `not installed: ${missing.join(', ')}; the tests that start them are left out (to run them: ${advice})`;
}

/** @param {Machine} machine */
function missingPrograms(machine) {
  return programNames().filter((name) => machine.find(name) === undefined);
}

/** @param {import('./debian-programs.mjs').ProgramName[]} names */
function packagesOf(names) {
  return [...new Set(names.map((name) => packageOfProgram[name]))];
}
