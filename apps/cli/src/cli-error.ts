/** An expected end of a command: one line that says what, where and what to do, and the exit code. */
export class CliError extends Error {
  override readonly name = 'CliError';
  /** One of EXIT, or `ab`'s own. */
  readonly exitCode: number;

  constructor(exitCode: number, message: string, cause?: unknown) {
    super(message, { cause });
    this.exitCode = exitCode;
  }
}
