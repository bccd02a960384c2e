/**
 * A directory that exactly one process uses. The lock is a file with its holder's pid, the time that
 * process was started (a pid alone comes back after a while) and its host (a pid says nothing about another
 * machine or container that mounts the same volume; there only the age of the lock's last sign of life
 * counts). The file appears with its whole content at once: it is written aside and hard-linked.
 */
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { StoreError } from './store-error.js';

/** Name of the lock, and beginning of the names of what it is made from. */
export const LOCK_NAME = 'broadside.lock';
const SIGN_OF_LIFE_MS = 2_000;
/** A holder on another host that gave no sign of life for this long is taken for dead. */
const FOREIGN_STALE_MS = 15_000;
/** Replacing a stale lock is a matter of microseconds; an older guard was left by a killed process. */
const GUARD_STALE_MS = 10_000;
const MAX_ATTEMPTS = 5;

interface Holder {
  readonly pid: number;
  /** Start of the process in clock ticks since boot; null where the system does not say. */
  readonly startTicks: number | null;
  readonly host: string;
}

export interface DirectoryLock {
  /** Idempotent. Never removes a lock that another process has taken meanwhile. */
  release(): void;
}

/**
 * @param directory exists already.
 * @throws StoreError naming the directory and the process that has it.
 */
export function lockDirectory(directory: string): DirectoryLock {
  const path = join(directory, LOCK_NAME);
  const nonce = `${process.pid}-${randomBytes(6).toString('hex')}`;
  // The nonce tells this lock from a later one; an inode number would not, it is given again at once.
  const content = JSON.stringify({ ...thisProcess(), nonce });
  const candidate = join(directory, `${LOCK_NAME}.${nonce}`);
  writeFileSync(candidate, content, { mode: 0o600, flag: 'wx' });
  try {
    for (let attempt = 1; !tryLink(candidate, path); attempt++) {
      if (attempt === MAX_ATTEMPTS) throw heldError(directory, readHolder(path));
      const holder = readHolder(path);
      if (holder !== undefined && isAlive(holder, path)) throw heldError(directory, holder);
      removeStale(path);
    }
  } finally {
    rmSync(candidate, { force: true });
  }
  return keep(path, content);
}

/** Whether a living process holds the directory; false without a lock or with a stale one. */
export function isLocked(directory: string): boolean {
  const path = join(directory, LOCK_NAME);
  const holder = readHolder(path);
  return holder !== undefined && isAlive(holder, path);
}

function keep(path: string, content: string): DirectoryLock {
  const isOurs = (): boolean => existsSync(path) && readFileSync(path, 'utf8') === content;
  const timer = setInterval(() => {
    const now = new Date();
    if (isOurs()) utimesSync(path, now, now);
  }, SIGN_OF_LIFE_MS);
  timer.unref();
  return {
    release: () => {
      clearInterval(timer);
      if (isOurs()) rmSync(path, { force: true });
    },
  };
}

/** Only one process at a time may replace a stale lock, or the second would remove the first one's new lock. */
function removeStale(path: string): void {
  const guard = `${path}.guard`;
  try {
    mkdirSync(guard);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    const guardAgeMs = Date.now() - (statSync(guard, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (guardAgeMs > GUARD_STALE_MS) rmSync(guard, { recursive: true, force: true });
    return;
  }
  try {
    const holder = readHolder(path);
    if (holder === undefined || !isAlive(holder, path)) rmSync(path, { force: true });
  } finally {
    rmSync(guard, { recursive: true, force: true });
  }
}

function isAlive(holder: Holder, path: string): boolean {
  if (holder.host !== hostname()) {
    const modified = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    return modified !== undefined && Date.now() - modified < FOREIGN_STALE_MS;
  }
  return isProcessAlive(holder.pid, holder.startTicks);
}

/**
 * Whether the process runs, and is the same that started then.
 * @param startTicks null when unknown: the pid alone decides.
 */
function isProcessAlive(pid: number, startTicks: number | null): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it runs, but belongs to somebody else.
    if (codeOf(error) !== 'EPERM') return false;
  }
  const now = processStatOf(pid);
  if (now === undefined) return true;
  return !now.hasEnded && (startTicks === null || startTicks === now.startTicks);
}

function thisProcess(): Holder {
  return { pid: process.pid, startTicks: processStatOf(process.pid)?.startTicks ?? null, host: hostname() };
}

interface ProcessStat {
  /** True for a zombie: it has ended, and keeps its number until its parent asks for its exit code, maybe never. */
  readonly hasEnded: boolean;
  readonly startTicks: number | null;
}

/**
 * Fields 3, 20 and 22 of /proc/<pid>/stat (proc(5)); the second one is in parentheses and may hold anything. A zombie
 * with more than one thread is still ending, and its other threads may be writing.
 */
function processStatOf(pid: number): ProcessStat | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state = '', threads, ticks] = [fields[0], Number(fields[17]), Number(fields[19])];
    return {
      hasEnded: /^[ZXx]$/.test(state) && threads <= 1,
      startTicks: Number.isSafeInteger(ticks) ? ticks : null,
    };
  } catch {
    return undefined; // No /proc on this system, or the process has just ended: both mean "unknown".
  }
}

/** Undefined when there is no lock, or nothing that ours could have written. */
function readHolder(path: string): Holder | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || error instanceof SyntaxError) return undefined;
    throw error;
  }
  if (typeof parsed !== 'object' || parsed === null) return undefined;
  const { pid, startTicks, host } = parsed as Partial<Record<keyof Holder, unknown>>;
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid <= 0 || typeof host !== 'string') {
    return undefined;
  }
  return { pid, startTicks: typeof startTicks === 'number' ? startTicks : null, host };
}

function tryLink(candidate: string, path: string): boolean {
  try {
    linkSync(candidate, path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

function heldError(directory: string, holder: Holder | undefined): StoreError {
  const who = holder === undefined ? 'another process' : `process ${holder.pid} on ${holder.host}`;
  return new StoreError(
    `the data directory ${directory} is in use by ${who}; stop it, or choose another directory`,
  );
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
