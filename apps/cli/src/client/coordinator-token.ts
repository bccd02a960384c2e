import { EXIT } from '@broadside/shared';
import { CliError } from '../cli-error.js';
import { fromEnvironment } from '../flags.js';
import { readNamedFile } from '../run/read-file.js';

export interface TokenFlags {
  readonly token?: string | undefined;
  readonly tokenFile?: string | undefined;
}

/** A token, and what gave it: for messages, which never repeat it. */
export interface GivenToken {
  readonly text: string;
  readonly name: string;
}

const MAX_TOKEN_FILE_BYTES = 4_096;

/**
 * A token from its flag, a file, or the environment (`variable`, and `variable` with `_FILE` behind it), in this
 * order. Undefined where none was given.
 * @throws CliError with EXIT.usage or EXIT.file; it never repeats a token.
 */
export async function tokenOf(flags: TokenFlags, variable: string): Promise<GivenToken | undefined> {
  if (flags.token !== undefined && flags.tokenFile !== undefined) {
    throw new CliError(EXIT.usage, 'give --token or --token-file, not both');
  }
  if (flags.token !== undefined) return typedToken(flags.token);
  if (flags.tokenFile !== undefined) return await tokenIn(flags.tokenFile, '--token-file');
  const text = fromEnvironment(variable);
  if (text !== undefined) return { text, name: variable };
  const file = fromEnvironment(`${variable}_FILE`);
  return file === undefined ? undefined : await tokenIn(file, `${variable}_FILE`);
}

export function typedToken(text: string | undefined): GivenToken | undefined {
  return text === undefined ? undefined : { text, name: '--token' };
}

async function tokenIn(file: string, name: string): Promise<GivenToken> {
  const text = (await readNamedFile('token file', file, MAX_TOKEN_FILE_BYTES)).toString('utf8').trim();
  if (text === '') throw new CliError(EXIT.usage, `the token file ${file} is empty`);
  return { text, name };
}
