/**
 * An error as logs may have it: named fields only. Libraries hang on their errors whatever they have at hand (`pg` its
 * client, with the key that cancels queries), and a log keeps what it gets.
 */

/** What a log has of an error. */
export interface LoggedError {
  readonly type: string;
  readonly message: string;
  /** As the system, the database or we name it. */
  readonly code?: string | number;
  /** Where it was thrown, for who looks for a defect. */
  readonly stack?: string;
  /** The messages of what caused it, nearest first. */
  readonly causes?: readonly string[];
}

const MAX_TEXT_LENGTH = 1_000;
const MAX_CODE_LENGTH = 64;
const MAX_STACK_LINES = 8;
const MAX_CAUSES = 3;

/** @param withStack for a log that tells details, too. */
export function loggedError(error: unknown, withStack = false): LoggedError | string {
  if (!(error instanceof Error)) return textOf(error);
  const code = 'code' in error ? error.code : undefined;
  const causes = causesOf(error);
  return {
    type: shortened(error.name, MAX_CODE_LENGTH),
    message: shortened(error.message),
    ...(typeof code === 'number' ? { code } : {}),
    ...(typeof code === 'string' ? { code: shortened(code, MAX_CODE_LENGTH) } : {}),
    ...(withStack && error.stack !== undefined ? { stack: shortStack(error.stack) } : {}),
    ...(causes.length === 0 ? {} : { causes }),
  };
}

/** For the loggers of servers: what stands under the names that errors are given to them by. */
export function errorSerializers(withStack: boolean): Readonly<Record<string, (value: unknown) => unknown>> {
  const serialize = (value: unknown): unknown => loggedError(value, withStack);
  return { err: serialize, error: serialize, reason: serialize };
}

function causesOf(error: Error): string[] {
  const causes: string[] = [];
  let { cause } = error;
  while (cause instanceof Error && causes.length < MAX_CAUSES) {
    causes.push(shortened(cause.message));
    ({ cause } = cause);
  }
  return causes;
}

/** An object that is no error may hold anything. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return shortened(value);
  return typeof value === 'object' && value !== null ? 'an object that is no error' : String(value);
}

function shortStack(stack: string): string {
  return stack
    .split('\n', MAX_STACK_LINES)
    .map((line) => shortened(line))
    .join('\n');
}

function shortened(text: string, maxLength = MAX_TEXT_LENGTH): string {
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
}
