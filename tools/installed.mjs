// Says whether node_modules holds exactly the versions that package-lock.json asks for. npm leaves a list of
// what it installed in node_modules/.package-lock.json; times of files say little after a git checkout.
//
// Usage: node tools/installed.mjs [folder]      exit code 0: yes, 1: no

import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * @typedef {{ version?: string, link?: boolean, optional?: boolean, devOptional?: boolean, peer?: boolean }} Entry
 * @typedef {{ packages?: Record<string, Entry> }} Lock
 */

/**
 * @param {string} folder the folder of package-lock.json
 * @returns {boolean} false also when either list is missing or broken
 */
export function isInstalled(folder) {
  const wanted = readLock(join(folder, 'package-lock.json'));
  const present = readLock(join(folder, 'node_modules', '.package-lock.json'));
  if (wanted === undefined || present === undefined) return false;
  return Object.entries(wanted).every(([path, entry]) => {
    // The root itself and the workspace folders are not installed, only linked.
    if (!path.includes('node_modules/')) return true;
    const found = present[path];
    // Optional packages of other platforms are left out by npm.
    if (found === undefined) return entry.optional === true || entry.devOptional === true;
    return found.version === entry.version && found.link === entry.link;
  });
}

/**
 * @param {string} path
 * @returns {Record<string, Entry> | undefined}
 */
function readLock(path) {
  try {
    /** @type {Lock} */
    const lock = JSON.parse(readFileSync(path, 'utf8'));
    return lock.packages;
  } catch {
    return undefined; // Missing or half-written: then it is not installed, which is the answer.
  }
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const folder = process.argv[2] ?? resolve(dirname(fileURLToPath(import.meta.url)), '..');
  process.exitCode = isInstalled(folder) ? 0 : 1;
}
