import type { ExitCode } from '@broadside/shared';

/** An expected end of a command: one line that says what, where and what to do, and the exit code. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.exitCode = exitCode;
  }
}
