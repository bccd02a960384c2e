// Every flag that a command accepts is in its help, and its help tells of no other.
import { describe, expect, it } from 'vitest';
import type { AbGrammar } from '../ab/ab-arguments.js';
import { COMMANDS } from '../commands.js';
import type { FlagTable } from '../flags.js';

/** `--help` and `-h` show the page itself; `version` is `-V` of ab. */
const UNTOLD = ['--help', '-h', '--version'];

/** `-n` and `--requests`, wherever a line of help names them as its subject or beside it. */
function flagsIn(help: string): Set<string> {
  return new Set([...help.matchAll(/(?<![\w`-])--?[a-zA-Z][a-z-]*\b/g)].map(([flag]) => flag));
}

/** Those that begin a line, alone or after others: what help claims to be accepted. */
function flagsToldBy(help: string): string[] {
  return help.split('\n').flatMap((line) => {
    const head = /^ {2,6}(-.*?)(?: {2,}|$)/.exec(line)?.[1] ?? '';
    return [...flagsIn(head)];
  });
}

function isGrammar(flags: FlagTable | AbGrammar): flags is AbGrammar {
  return typeof flags['letters'] === 'string';
}

async function acceptedBy(command: (typeof COMMANDS)[number]): Promise<string[]> {
  const { FLAGS } = await command.load();
  if (isGrammar(FLAGS)) {
    const { letters, longWithValue, longAlone } = FLAGS;
    const short = letters
      .replaceAll(':', '')
      .split('')
      .map((letter) => `-${letter}`);
    return [...short, ...[...longWithValue, ...longAlone].map((name) => `--${name}`)];
  }
  return Object.entries(FLAGS).flatMap(([name, { short }]) => [
    `--${name}`,
    ...(short === undefined ? [] : [`-${short}`]),
  ]);
}

describe.each(COMMANDS.map((command) => [command.name, command] as const))('help %s', (_name, command) => {
  it('tells of every flag that is accepted', async () => {
    const told = flagsIn((await command.loadHelp()).help);
    const untold = (await acceptedBy(command)).filter((flag) => !told.has(flag) && !UNTOLD.includes(flag));
    expect(untold).toEqual([]);
  });

  it('tells of no flag that is not accepted', async () => {
    const accepted = new Set(await acceptedBy(command));
    const { help } = await command.loadHelp();
    expect(flagsToldBy(help).filter((flag) => !accepted.has(flag))).toEqual([]);
  });
});
