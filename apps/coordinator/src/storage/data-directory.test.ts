import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDataDirectory, openEphemeralDirectory, sweepEphemeralDirectories } from './data-directory.js';
import { StoreError } from './store-error.js';

let parent: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'broadside-directory-test-'));
});
afterEach(() => {
  rmSync(parent, { recursive: true, force: true });
});

describe('openDataDirectory', () => {
  it('creates the directory, keeps it after release, and gives it to one opener at a time', () => {
    const path = join(parent, 'a', 'b');
    const directory = openDataDirectory(path);
    expect(() => openDataDirectory(path)).toThrow('is in use by process');
    directory.release();
    expect(existsSync(path)).toBe(true);
    openDataDirectory(path).release();
  });

  it('takes an empty directory, a new file system, and what a killed start left', () => {
    const path = join(parent, 'store');
    mkdirSync(join(path, 'lost+found'), { recursive: true });
    writeFileSync(join(path, 'broadside.lock.1-abc'), '');
    openDataDirectory(path).release();
    writeFileSync(join(path, 'postgres'), '');
    expect(openDataDirectory(path).path).toBe(path);
    expect(readdirSync(path)).toContain('broadside.store');
  });

  it('refuses a directory that holds what is not ours, and writes nothing into it', () => {
    mkdirSync(join(parent, 'postgres'));
    expect(() => openDataDirectory(parent)).toThrow(
      new StoreError(
        `${parent} is no data directory of Broadside and not empty (there is "postgres" in it); ` +
          'give an empty or a new one',
      ),
    );
    expect(readdirSync(parent)).toEqual(['postgres']);
  });

  it.runIf(process.platform === 'linux')('gives up at once where the system makes no directories', () => {
    const path = '/proc/broadside/store';
    expect(() => openDataDirectory(path)).toThrow(
      new StoreError(`cannot keep the store in ${path}: no directory can be made there`),
    );
  });

  it('says what is wrong with a file, or a link to nowhere, of that name', () => {
    writeFileSync(join(parent, 'file'), '');
    symlinkSync(join(parent, 'none'), join(parent, 'link'));
    expect(() => openDataDirectory(join(parent, 'file'))).toThrow(/file: a part of the path is a file$/);
    expect(() => openDataDirectory(join(parent, 'link'))).toThrow(/link: a file has that name$/);
  });

  it('says in one line what is wrong with a path through a file', () => {
    writeFileSync(join(parent, 'file'), '');
    const path = join(parent, 'file', 'store');
    expect(() => openDataDirectory(path)).toThrow(
      new StoreError(`cannot keep the store in ${path}: a part of the path is a file`),
    );
  });
});

describe('openEphemeralDirectory', () => {
  it('gives every opener its own directory and leaves nothing behind', () => {
    const directories = [1, 2, 3].map(() => openEphemeralDirectory(parent));
    expect(new Set(directories.map(({ path }) => path)).size).toBe(3);
    for (const directory of directories) directory.release();
    expect(readdirSync(parent)).toEqual([]);
  });
});

describe('sweepEphemeralDirectories', () => {
  const leave = (name: string, lock?: object): string => {
    const path = join(parent, name);
    mkdirSync(path);
    if (lock !== undefined) writeFileSync(join(path, 'broadside.lock'), JSON.stringify(lock));
    return path;
  };

  it('removes what a killed process left, and nothing that is in use, young, or not ours', async () => {
    const used = openEphemeralDirectory(parent);
    leave('broadside-store-killed', { pid: process.pid, startTicks: 1, host: hostname() });
    leave('broadside-store-just-being-made');
    const old = leave('broadside-store-never-locked');
    utimesSync(old, new Date(0), new Date(0));
    leave('something-else', { pid: process.pid, startTicks: 1, host: hostname() });

    expect(await sweepEphemeralDirectories(parent)).toBe(2);
    const left = readdirSync(parent).map((name) => join(parent, name));
    expect(left.toSorted()).toEqual(
      [used.path, join(parent, 'broadside-store-just-being-made'), join(parent, 'something-else')].toSorted(),
    );
    used.release();
  });
});
