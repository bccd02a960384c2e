import { EXIT } from '@broadside/shared';
import { CliError } from '../cli-error.js';
import { fromEnvironment } from '../flags.js';
import { readNamedFile } from '../run/read-file.js';

export interface TokenFlags {
  readonly token?: string | undefined;
  readonly tokenFile?: string | undefined;
}

const MAX_TOKEN_FILE_BYTES = 4_096;

/**
 * A token from its flag, a file, or the environment (`variable`, and `variable` with `_FILE` behind it), in this
 * order. Undefined where none was given.
 * @throws CliError with EXIT.usage or EXIT.file; it never repeats a token.
 */
export async function tokenOf(flags: TokenFlags, variable: string): Promise<string | undefined> {
  if (flags.token !== undefined && flags.tokenFile !== undefined) {
    throw new CliError(EXIT.usage, 'give --token or --token-file, not both');
  }
  if (flags.token !== undefined) return flags.token;
  if (flags.tokenFile !== undefined) return await tokenIn(flags.tokenFile);
  const token = fromEnvironment(variable);
  if (token !== undefined) return token;
  const file = fromEnvironment(`${variable}_FILE`);
  return file === undefined ? undefined : await tokenIn(file);
}

async function tokenIn(file: string): Promise<string> {
  const token = (await readNamedFile('token file', file, MAX_TOKEN_FILE_BYTES)).toString('utf8').trim();
  if (token === '') throw new CliError(EXIT.usage, `the token file ${file} is empty`);
  return token;
}
