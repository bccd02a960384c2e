import { readFileSync } from 'node:fs';
import { COMMANDS, generalHelp } from './commands.js';
import { describeError, describeOutputFailure, EARLY_EXIT } from './describe-error.js';
import { readOwnLimits, tooFewDescriptors } from './descriptor-limit.js';

// Nothing heavy is imported here: `--version` and `--help` must answer at once. Everything else is loaded by
// the command that needs it.

/** Longest time between the end of a command and the end of the process, whatever still hangs. */
const LEAVE_TIMEOUT_MS = 2_000;

/** `ab` ends with the number of the system's error: EMFILE. */
const AB_TOO_MANY_FILES = 24;

async function main(words: readonly string[]): Promise<number> {
  const [first, ...rest] = words;
  if (first === '--version' || first === '-V' || first === 'version') {
    process.stdout.write(`broadside ${ownVersion()}\n`);
    return 0;
  }
  if (first === undefined) {
    process.stderr.write(generalHelp());
    return EARLY_EXIT.usage;
  }
  if (first === '--help' || first === '-h') {
    process.stdout.write(generalHelp());
    return 0;
  }
  if (first === 'help') return await printHelp(rest[0]);
  const command = COMMANDS.find((entry) => entry.name === first);
  if (command === undefined) return await refuseUnknown(first);
  // `-h` alone belongs to the command: `ab` answers it in its own way.
  if (rest[0] === '--help') return await printHelp(command.name);
  const tooFew = tooFewDescriptors(readOwnLimits());
  if (tooFew !== undefined) {
    process.stderr.write(`broadside: ${tooFew}\n`);
    return command.name === 'ab' ? AB_TOO_MANY_FILES : EARLY_EXIT.runFailed;
  }
  if (!hasWorkingDirectory()) {
    process.stderr.write(
      'broadside: the working directory was removed; go to another one, and start again there\n',
    );
    return EARLY_EXIT.file;
  }
  const { execute } = await command.load();
  return await execute(rest);
}

/** Modules of others ask for it while they are loaded, where its absence could not be told any more. */
function hasWorkingDirectory(): boolean {
  try {
    process.cwd();
    return true;
  } catch {
    return false;
  }
}

async function printHelp(name: string | undefined): Promise<number> {
  // These two have no page of their own; the general one tells of both.
  if (name === undefined || name === 'help' || name === 'version') {
    process.stdout.write(generalHelp());
    return 0;
  }
  const command = COMMANDS.find((entry) => entry.name === name);
  if (command === undefined) return await refuseUnknown(name);
  const { help } = await command.loadHelp();
  process.stdout.write(help);
  return 0;
}

async function refuseUnknown(word: string): Promise<number> {
  const { nearestOf } = await import('@broadside/shared');
  const near = nearestOf(
    word,
    COMMANDS.map((entry) => entry.name),
  );
  const hint = near === undefined ? '`broadside help` lists the commands' : `did you mean \`${near}\`?`;
  process.stderr.write(`broadside: unknown command ${JSON.stringify(word)}; ${hint}\n`);
  return EARLY_EXIT.usage;
}

/** From package.json, which a test keeps equal to libs/shared. */
function ownVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  const parsed: unknown = JSON.parse(text);
  const version =
    typeof parsed === 'object' && parsed !== null && 'version' in parsed ? parsed.version : undefined;
  return typeof version === 'string' ? version : 'unknown';
}

/** Whether standard output could not be written, which no other end of the command hides. */
let isOutputLost = false;

/**
 * A reader that goes away (`| head`) ends the command quietly, as every Unix program does. After any other
 * failure the command is told by its own write where it waits for one, and has the usual bound to clean up.
 */
function endOnLostOutput(error: NodeJS.ErrnoException): void {
  const failure = describeOutputFailure(error);
  if (failure === undefined) process.exit(process.exitCode ?? 0);
  if (isOutputLost) return;
  isOutputLost = true;
  process.stderr.write(`broadside: ${failure}\n`);
  leave(EARLY_EXIT.file);
}

/** Runs the command of this process, and ends the process with its code. Never rejects. */
export async function runProgram(): Promise<void> {
  process.stdout.on('error', endOnLostOutput);
  // Progress and notes that nobody can read cost no load and no report: the command goes on to its own end.
  process.stderr.on('error', () => undefined);
  try {
    leave(await main(process.argv.slice(2)));
  } catch (error) {
    const { text, exitCode } = describeError(error);
    if (!isOutputLost) process.stderr.write(`${text}\n`);
    leave(exitCode);
  }
}

/** Lets pending output drain and ends; what does not let go of the process within the bound is left behind. */
function leave(exitCode: number): void {
  const code = isOutputLost ? EARLY_EXIT.file : exitCode;
  process.exitCode = code;
  setTimeout(() => process.exit(code), LEAVE_TIMEOUT_MS).unref();
}
