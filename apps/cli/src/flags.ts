import { type ParseArgsConfig, parseArgs } from 'node:util';
import { EXIT, nearestOf, numberOrText } from '@broadside/shared';
import { CliError } from './cli-error.js';

export type FlagTable = NonNullable<ParseArgsConfig['options']>;

/** What `parseArgs` gives for a table of flags. */
export type ReadFlags<T extends FlagTable> = ReturnType<
  typeof parseArgs<{ args: string[]; options: T; strict: true; allowPositionals: true }>
>;

/**
 * Reads flags strictly; a mistake becomes one line with the nearest flag that exists.
 * @throws CliError with EXIT.usage.
 */
export function readFlags<const T extends FlagTable>(
  command: string,
  words: readonly string[],
  options: T,
): ReadFlags<T> {
  try {
    return parseArgs({ args: [...words], options, strict: true, allowPositionals: true });
  } catch (error) {
    throw new CliError(EXIT.usage, describeFlagMistake(command, error, Object.keys(options)));
  }
}

function describeFlagMistake(command: string, error: unknown, names: readonly string[]): string {
  const text = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && 'code' in error ? error.code : '';
  const flag = /'(-[^']*?)(?:[ ,<][^']*)?'/.exec(text)?.[1] ?? '';
  const help = `see \`broadside help ${command}\``;
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
    const near = flag.startsWith('--') ? nearestOf(flag.slice(2), names) : undefined;
    return `${command}: unknown flag ${flag}; ${near === undefined ? help : `did you mean --${near}?`}`;
  }
  if (code === 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE') {
    const needs = text.includes('does not take') ? 'takes no value' : 'needs a value';
    return `${command}: flag ${flag} ${needs}; ${help}`;
  }
  return `${command}: ${text}; ${help}`;
}

/** A whole number within bounds, from a flag or the environment. */
export function wholeNumberFlag(
  flag: string,
  text: string | undefined,
  bounds: { readonly least: number; readonly most: number },
): number | undefined {
  if (text === undefined) return undefined;
  const value = numberOrText(text);
  if (typeof value !== 'number' || !Number.isInteger(value) || value < bounds.least || value > bounds.most) {
    throw new CliError(
      EXIT.usage,
      `${flag} ${JSON.stringify(text)}: must be a whole number from ${bounds.least} to ${bounds.most}`,
    );
  }
  return value;
}

/** Refuses words that are no flags where a command wants none. */
export function refuseWords(command: string, positionals: readonly string[]): void {
  const first = positionals[0];
  if (first === undefined) return;
  throw new CliError(
    EXIT.usage,
    `${command}: unexpected argument ${JSON.stringify(first)}; see \`broadside help ${command}\``,
  );
}

/** A variable of the environment; empty counts as absent. */
export function fromEnvironment(name: string): string | undefined {
  const value = process.env[name];
  return value === undefined || value === '' ? undefined : value;
}
