import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isLocked, lockDirectory } from './directory-lock.js';
import { StoreError } from './store-error.js';

const EPHEMERAL_PREFIX = 'broadside-store-';
/** A directory without a lock may be one that is just being made; older than this it was left behind. */
const UNLOCKED_STALE_MS = 60_000;
/** Left-overs of killed processes that one start removes; the next start takes the rest. */
const MAX_SWEPT = 20;

/** A directory that belongs to this process alone. */
export interface DataDirectory {
  readonly path: string;
  /** Gives the directory back, after the cluster in it was shut down; an ephemeral one is deleted. */
  release(): void;
}

/**
 * Takes a directory for this process alone, creating it if need be.
 * @throws StoreError when it is in use or cannot be written.
 */
export function openDataDirectory(path: string): DataDirectory {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const lock = lockDirectory(path);
    return { path, release: () => lock.release() };
  } catch (error) {
    throw explainDirectoryError(error, path);
  }
}

/** A directory of its own for a store that ends with this process, swept by the next start after a kill. */
export function openEphemeralDirectory(parent = tmpdir()): DataDirectory {
  try {
    const path = mkdtempSync(join(parent, EPHEMERAL_PREFIX));
    const lock = lockDirectory(path);
    const release = (): void => {
      process.off('exit', release);
      // The lock goes with the directory: a lock released first would make it look abandoned.
      rmSync(path, { recursive: true, force: true, maxRetries: 2 });
      lock.release();
    };
    // The ordinary way is `release`; this is for a process that ends without closing its store.
    process.on('exit', release);
    return { path, release };
  } catch (error) {
    throw explainDirectoryError(error, parent);
  }
}

/**
 * Removes ephemeral directories whose process is gone (killed, or the machine lost power).
 * @returns how many were removed.
 */
export async function sweepEphemeralDirectories(parent = tmpdir()): Promise<number> {
  let removed = 0;
  for (const name of await readdir(parent)) {
    if (removed === MAX_SWEPT) break;
    if (!name.startsWith(EPHEMERAL_PREFIX)) continue;
    const directory = join(parent, name);
    if (!isAbandoned(directory)) continue;
    await rm(directory, { recursive: true, force: true, maxRetries: 2 });
    removed += 1;
  }
  return removed;
}

function isAbandoned(directory: string): boolean {
  const status = statSync(directory, { throwIfNoEntry: false });
  // Another account's directory is not ours to judge: its lock may be unreadable.
  if (status === undefined || !status.isDirectory() || status.uid !== process.getuid?.()) return false;
  return Date.now() - status.mtimeMs > UNLOCKED_STALE_MS ? !isLocked(directory) : hasStaleLock(directory);
}

function hasStaleLock(directory: string): boolean {
  return readdirSync(directory).includes('broadside.lock') && !isLocked(directory);
}

/** The failures of a file system that a user can act on, in words; anything else as it is. */
export function explainDirectoryError(error: unknown, directory: string): unknown {
  if (error instanceof StoreError || !(error instanceof Error) || !('code' in error)) return error;
  const reasons: Readonly<Record<string, string>> = {
    EACCES: 'no permission to write there',
    EPERM: 'no permission to write there',
    EROFS: 'the file system is read-only',
    ENOSPC: 'no space is left',
    ENOTDIR: 'a part of the path is a file',
    EEXIST: 'a file has that name',
  };
  const reason = reasons[String(error.code)] ?? error.message;
  return new StoreError(`cannot keep the store in ${directory}: ${reason}`, { cause: error });
}
