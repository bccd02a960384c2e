import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isLocked, lockDirectory } from './directory-lock.js';
import { StoreError } from './store-error.js';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'broadside-lock-test-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

function leaveLock(content: unknown): string {
  const path = join(directory, 'broadside.lock');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

/** The pid of a process that has certainly ended. */
async function deadPid(): Promise<number> {
  const child = fork('-', { execArgv: ['-e', ''], stdio: 'ignore' });
  await new Promise((resolve) => child.once('exit', resolve));
  return child.pid ?? 0;
}

describe('lockDirectory', () => {
  it('lets one holder in, refuses the second by name of the first, and the next one after release', () => {
    const lock = lockDirectory(directory);
    expect(isLocked(directory)).toBe(true);
    const message = `the data directory ${directory} is in use by process ${process.pid} on ${hostname()}`;
    expect(() => lockDirectory(directory)).toThrow(StoreError);
    expect(() => lockDirectory(directory)).toThrow(message);
    lock.release();
    expect(isLocked(directory)).toBe(false);
    lockDirectory(directory).release();
    expect(readdirSync(directory)).toEqual([]);
  });

  it('takes over from a process that has ended', async () => {
    leaveLock({ pid: await deadPid(), startTicks: null, host: hostname() });
    expect(isLocked(directory)).toBe(false);
    lockDirectory(directory).release();
  });

  it.runIf(process.platform === 'linux')(
    'takes over from a zombie, which its parent never asks about',
    async () => {
      // The shell becomes a program that knows of no child.
      const parent = spawn('sh', ['-c', 'sleep 600 & echo $!; exec sleep 600'], {
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      try {
        const [line] = (await once(parent.stdout, 'data')) as [Buffer];
        const pid = Number(line.toString());
        leaveLock({ pid, startTicks: null, host: hostname() });
        expect(isLocked(directory)).toBe(true);
        await expect.poll(() => readFileSync(`/proc/${parent.pid}/comm`, 'utf8')).toBe('sleep\n');
        process.kill(pid, 'SIGKILL');
        await expect.poll(() => readFileSync(`/proc/${pid}/stat`, 'utf8')).toContain(') Z ');
        expect(isLocked(directory)).toBe(false);
        lockDirectory(directory).release();
      } finally {
        parent.kill('SIGKILL');
      }
    },
  );

  it('takes over when the pid lives again as another process', () => {
    leaveLock({ pid: process.pid, startTicks: 1, host: hostname() });
    expect(isLocked(directory)).toBe(false);
    lockDirectory(directory).release();
  });

  it('waits for a holder on another host until it has given no sign of life for 15 s', () => {
    const path = leaveLock({ pid: 1, startTicks: 1, host: 'elsewhere' });
    expect(() => lockDirectory(directory)).toThrow('process 1 on elsewhere');
    const longAgo = new Date(Date.now() - 16_000);
    utimesSync(path, longAgo, longAgo);
    lockDirectory(directory).release();
  });

  it.each(['', 'not JSON', '[]', '{"pid":-1,"host":"a"}', '{"pid":"1","host":"a"}'])(
    'replaces a lock file that holds %j',
    (content) => {
      leaveLock(content);
      const lock = lockDirectory(directory);
      expect(isLocked(directory)).toBe(true);
      lock.release();
    },
  );

  it('does not remove the lock of a process that has taken over', () => {
    const lock = lockDirectory(directory);
    const path = join(directory, 'broadside.lock');
    rmSync(path);
    const other = lockDirectory(directory);
    lock.release();
    expect(readFileSync(path, 'utf8')).toContain(`"pid":${process.pid}`);
    other.release();
  });
});
