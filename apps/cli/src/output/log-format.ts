import { EXIT } from '@broadside/shared';
import { CliError } from '../cli-error.js';

export type LogFormat = 'text' | 'json';

/**
 * Text unless JSON is asked for, whether there is a terminal or not: a format that changes with a pipe surprises.
 * @param name what gave it.
 * @throws CliError with EXIT.usage.
 */
export function logFormatOf(text: string | undefined, name: string): LogFormat {
  if (text === undefined || text === 'text') return 'text';
  if (text === 'json') return 'json';
  throw new CliError(EXIT.usage, `${name} ${JSON.stringify(text)}: must be text or json`);
}
