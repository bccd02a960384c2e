import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { EXIT } from '@broadside/shared';
import { CliError } from '../cli-error.js';
import { describeFileError } from './file-error.js';
import { writeOut } from './streams.js';

/** A place for the JSON report. `-` is stdout, and then the text report goes to stderr. */
export interface JsonDestination {
  readonly isStdout: boolean;
  /** Writes all or nothing. @throws CliError with EXIT.file. */
  write(text: string): Promise<void>;
}

/**
 * Checks, before a run is started, that its report can be written at the end.
 * @throws CliError with EXIT.file, or EXIT.usage for an empty name.
 */
export async function openJsonDestination(path: string): Promise<JsonDestination> {
  if (path === '-') {
    return { isStdout: true, write: writeOut };
  }
  if (path === '')
    throw new CliError(EXIT.usage, 'a file to write to must have a name; - is standard output');
  await assertWritable(path);
  return { isStdout: false, write: (text) => writeAtomically(path, text) };
}

async function assertWritable(path: string): Promise<void> {
  try {
    const existing = await stat(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (existing?.isDirectory() === true)
      throw Object.assign(new Error('is a directory'), { code: 'EISDIR' });
    // A device or a pipe is written in place; a file is replaced, which needs its folder.
    if (existing !== undefined && !existing.isFile()) await access(path, constants.W_OK);
    else {
      await access(dirname(path), constants.W_OK | constants.X_OK);
      if (existing !== undefined) await access(path, constants.W_OK);
      await probeFolder(path);
    }
  } catch (error) {
    throw fileError(path, error);
  }
}

/** Permission bits do not tell of a read-only file system or a full disk: only writing does. */
async function probeFolder(path: string): Promise<void> {
  const probe = temporaryName(path);
  await writeFile(probe, '', { flag: 'wx' });
  await rm(probe);
}

async function writeAtomically(path: string, text: string): Promise<void> {
  const existing = await stat(path).catch(() => undefined);
  if (existing !== undefined && !existing.isFile()) {
    await writeFile(path, text).catch((error: unknown) => {
      throw fileError(path, error);
    });
    return;
  }
  const temporary = temporaryName(path);
  try {
    await writeFile(temporary, text, { flag: 'wx' });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw fileError(path, error);
  }
}

function temporaryName(path: string): string {
  return join(dirname(path), `.${basename(path).slice(0, 200)}.${randomBytes(6).toString('hex')}`);
}

function fileError(path: string, error: unknown): CliError {
  return new CliError(EXIT.file, `cannot write ${path}: ${describeFileError(error)}`, error);
}
