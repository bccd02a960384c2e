import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { isLocked, LOCK_NAME, lockDirectory } from './directory-lock.js';
import { StoreError } from './store-error.js';

/** Marks a data directory as ours; made with it, and never removed. */
const MARKER_NAME = 'broadside.store';
const MARKER_TEXT =
  'Data of a Broadside coordinator. Do not change it by hand; a copy is taken while none uses it.\n';
const EPHEMERAL_PREFIX = 'broadside-store-';
/** A directory without a lock may be one that is just being made; older than this it was left behind. */
const UNLOCKED_STALE_MS = 60_000;
/** Left-overs of killed processes that one start removes; the next start takes the rest. */
const MAX_SWEPT = 20;

/** A directory that belongs to this process alone. */
export interface DataDirectory {
  readonly path: string;
  /** False once it was removed, moved away or replaced: what is written then goes nowhere that anybody finds. */
  isThere(): boolean;
  /** Gives the directory back, after the cluster in it was shut down; an ephemeral one is deleted. */
  release(): void;
}

/**
 * Takes a directory for this process alone, creating it if need be.
 * @throws StoreError when it is in use, holds what is not ours, or cannot be written.
 */
export function openDataDirectory(path: string): DataDirectory {
  try {
    makeDirectory(path);
    // Before the lock, which is a file as well: nothing is written into a directory of somebody else.
    assertOurs(path);
    const lock = lockDirectory(path);
    const marker = join(path, MARKER_NAME);
    if (!existsSync(marker)) writeFileSync(marker, MARKER_TEXT, { mode: 0o600 });
    return { path, isThere: presenceOf(path), release: () => lock.release() };
  } catch (error) {
    throw explainDirectoryError(error, path);
  }
}

/**
 * Level by level: Node's own way of making all at once never ends where the system answers ENOENT to a new entry in a
 * directory that is there, as /proc does.
 */
function makeDirectory(path: string): void {
  const missing: string[] = [];
  let known = resolve(path);
  for (; !existsSync(known); known = dirname(known)) missing.push(known);
  for (const each of missing.toReversed()) makeOne(each);
}

function makeOne(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have been quicker.
    const isThere = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    if (!isThere || statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
  }
}

/** Whether the same directory is still at the path. */
function presenceOf(path: string): () => boolean {
  const first = statSync(path);
  return () => {
    const now = statSync(path, { throwIfNoEntry: false });
    return now?.ino === first.ino && now.dev === first.dev;
  };
}

/** A mistyped path must not put files of ours among somebody else's, nor open a database that is not ours. */
function assertOurs(path: string): void {
  const names = readdirSync(path);
  if (names.includes(MARKER_NAME)) return;
  // What a start that was killed left, and what a new file system has.
  const foreign = names.find((name) => !name.startsWith(LOCK_NAME) && name !== 'lost+found');
  if (foreign === undefined) return;
  throw new StoreError(
    `${path} is no data directory of Broadside and not empty (there is ${JSON.stringify(foreign)} in it); ` +
      `give an empty or a new one`,
  );
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
    return { path, isThere: presenceOf(path), release };
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
  return readdirSync(directory).includes(LOCK_NAME) && !isLocked(directory);
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
    ENOENT: 'no directory can be made there',
    EMFILE: 'too many open files; raise the limit: ulimit -n 65536',
    EDQUOT: 'the quota is used up',
    ENAMETOOLONG: 'the name is too long',
    ELOOP: 'too many symbolic links',
  };
  const reason = reasons[String(error.code)] ?? error.message;
  return new StoreError(`cannot keep the store in ${directory}: ${reason}`, { cause: error });
}
