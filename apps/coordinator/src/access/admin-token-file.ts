import { constants } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { BroadsideError } from '@broadside/shared';
import { givenTokenSchema } from '../config/config.schema.js';

/**
 * The token in the file, undefined when there is no such file.
 * @throws BroadsideError `unavailable` when it cannot be read, `invalid` when it holds something else.
 */
export async function readAdminToken(path: string, host: string): Promise<string | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw unusable(path, 'read', error);
  }
  if (text.trim() === '') {
    throw new BroadsideError('invalid', `the admin token file ${path} is empty`, {
      hint: 'remove it: when nobody has a token, one is made and written there',
    });
  }
  const parsed = givenTokenSchema('user', host).safeParse(text.trim());
  if (parsed.success) return parsed.data;
  const reason = parsed.error.issues[0]?.message ?? 'not a token';
  throw new BroadsideError('invalid', `the admin token file ${path} holds no token: it ${reason}`);
}

/** Writes a file that only this user can read, and never over another one. */
export async function writeAdminToken(path: string, token: string): Promise<void> {
  try {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
    const file = await open(path, flags, 0o600);
    try {
      await file.writeFile(`${token}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    throw unusable(path, 'written', error);
  }
}

function unusable(path: string, what: string, error: unknown): BroadsideError {
  const reason = codeOf(error) ?? String(error);
  return new BroadsideError('unavailable', `the admin token file ${path} cannot be ${what}: ${reason}`, {
    cause: error,
  });
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
