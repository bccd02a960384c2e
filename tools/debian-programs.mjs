// The programs from Debian's packages that the tests run beside Broadside, and where to find them.
// One list for `npm test` (which installs them) and for test/support (which starts them).

import { accessSync, constants, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * @typedef {'ab' | 'initdb' | 'ip' | 'nft' | 'nginx' | 'openssl' | 'postgres' | 'psql' | 'redis-server'
 *   | 'wrk'} ProgramName
 */

/** @type {Readonly<Record<ProgramName, string>>} The Debian package that brings each program. */
export const packageOfProgram = Object.freeze({
  ab: 'apache2-utils',
  initdb: 'postgresql',
  ip: 'iproute2',
  nft: 'nftables',
  nginx: 'nginx',
  openssl: 'openssl',
  postgres: 'postgresql',
  psql: 'postgresql',
  'redis-server': 'redis-server',
  wrk: 'wrk',
});

/** @returns {ProgramName[]} */
export function programNames() {
  return /** @type {ProgramName[]} */ (Object.keys(packageOfProgram));
}

/**
 * The absolute path of a program, or undefined when it is not installed.
 * Debian keeps the server programs of PostgreSQL off the PATH, and sbin off a user's PATH.
 * @param {ProgramName} name
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {string | undefined}
 */
export function findProgram(name, env = process.env) {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  for (const folder of [...postgresFolders(), ...folders, '/usr/sbin', '/usr/bin', '/sbin']) {
    const path = join(folder, name);
    if (isExecutable(path)) return path;
  }
  return undefined;
}

/** @returns {string[]} newest version first, so that initdb and postgres always match */
function postgresFolders() {
  const root = '/usr/lib/postgresql';
  try {
    return readdirSync(root)
      .filter((version) => /^\d+$/.test(version))
      .sort((a, b) => Number(b) - Number(a))
      .map((version) => join(root, version, 'bin'));
  } catch {
    return []; // No PostgreSQL here, which is an ordinary answer.
  }
}

/** @param {string} path */
function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // The question was only whether it can be run.
  }
}
