import type { AbGrammar } from './ab/ab-arguments.js';
import type { FlagTable } from './flags.js';

/** A command's module. Loaded only when the command runs, so that `--version` loads nothing. */
export interface CommandModule {
  /** What `broadside help <command>` prints. */
  readonly help: string;
  /** What it accepts, each of which its help tells of; of `ab` the grammar of its options. */
  readonly FLAGS: FlagTable | AbGrammar;
  /** Runs the command and gives the exit code. */
  readonly execute: (words: readonly string[]) => Promise<number>;
}

export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  /** The texts of help are apart from the code, because they must come at once. */
  readonly loadHelp: () => Promise<{ readonly help: string }>;
  readonly load: () => Promise<Omit<CommandModule, 'help'>>;
}

/** All commands, in the order of the help page. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'demo',
    summary: 'start a target and a cluster here, fire a short run, print the report',
    loadHelp: () => import('./help/demo.help.js'),
    load: () => import('./commands/demo.js'),
  },
  {
    name: 'ab',
    summary: 'fire a run with the options of ApacheBench and print its report',
    loadHelp: () => import('./help/ab.help.js'),
    load: () => import('./commands/ab.js'),
  },
  {
    name: 'run',
    summary: 'fire a run from flags or from a plan file',
    loadHelp: () => import('./help/run.help.js'),
    load: () => import('./commands/run.js'),
  },
  {
    name: 'runs',
    summary: 'list the newest runs of a coordinator',
    loadHelp: () => import('./help/runs.help.js'),
    load: () => import('./commands/runs.js'),
  },
  {
    name: 'report',
    summary: 'print the report of a run of a coordinator once more',
    loadHelp: () => import('./help/report.help.js'),
    load: () => import('./commands/report.js'),
  },
  {
    name: 'serve',
    summary: 'start a coordinator',
    loadHelp: () => import('./help/serve.help.js'),
    load: () => import('./commands/serve.js'),
  },
  {
    name: 'agent',
    summary: 'join a coordinator and offer slots to it',
    loadHelp: () => import('./help/agent.help.js'),
    load: () => import('./commands/agent.js'),
  },
  {
    name: 'token',
    summary: 'create, list and revoke tokens of a coordinator',
    loadHelp: () => import('./help/token.help.js'),
    load: () => import('./commands/token.js'),
  },
  {
    name: 'audit',
    summary: 'who did what on a coordinator',
    loadHelp: () => import('./help/audit.help.js'),
    load: () => import('./commands/audit.js'),
  },
  {
    name: 'kill',
    summary: 'stop all load of a cluster at once, and keep new runs away',
    loadHelp: () => import('./help/kill.help.js'),
    load: () => import('./commands/kill.js'),
  },
  {
    name: 'doctor',
    summary: 'what this machine is, and whether it could carry a load',
    loadHelp: () => import('./help/doctor.help.js'),
    load: () => import('./commands/doctor.js'),
  },
  {
    name: 'self-test',
    summary: 'prove on this machine that what is reported is right',
    loadHelp: () => import('./help/self-test.help.js'),
    load: () => import('./commands/self-test.js'),
  },
  {
    name: 'target',
    summary: 'start a small HTTP server to try things on',
    loadHelp: () => import('./help/target.help.js'),
    load: () => import('./commands/target.js'),
  },
];

export function generalHelp(): string {
  const width = Math.max(...COMMANDS.map((command) => command.name.length));
  return [
    'Usage: broadside <command> [options]',
    '',
    'Distributed HTTP load testing: one honest merged report from many machines.',
    '',
    'Commands:',
    ...COMMANDS.map((command) => `  ${command.name.padEnd(width)}  ${command.summary}`),
    '',
    '  broadside help <command>   options of one command',
    '  broadside --version        version',
    '',
    'First steps:',
    '  broadside demo',
    '  broadside ab -n 100000 -c 100 -k http://127.0.0.1:8080/',
    '',
  ].join('\n');
}
