// Loaded with main.ts, so it imports nothing: errors are told by their names, and the numbers mirror EXIT of
// libs/shared, which is too heavy to load for a typing mistake (a test keeps them equal).

/** Exit codes that must be known before libs/shared is loaded. */
export const EARLY_EXIT = { usage: 2, cluster: 5, file: 6, internal: 70 } as const;

export interface DescribedError {
  /** For stderr, without the line end. */
  readonly text: string;
  readonly exitCode: number;
}

/** One line for an expected failure; a defect of ours shows where it happened. */
export function describeError(error: unknown): DescribedError {
  if (!(error instanceof Error)) return internal(String(error));
  const hint = 'hint' in error && typeof error.hint === 'string' ? `; ${error.hint}` : '';
  switch (error.name) {
    case 'CliError':
      return {
        text: `broadside: ${error.message}`,
        exitCode: 'exitCode' in error ? Number(error.exitCode) : 1,
      };
    case 'BroadsideError': {
      const code = 'code' in error ? error.code : undefined;
      if (code === 'internal') return internal(error.message);
      const exitCode = code === 'invalid' ? EARLY_EXIT.usage : EARLY_EXIT.cluster;
      return { text: `broadside: ${error.message}${hint}`, exitCode };
    }
    case 'StoreError':
    case 'QueueError':
      return { text: `broadside: ${error.message}${hint}`, exitCode: EARLY_EXIT.cluster };
    default:
      return internal(error.stack ?? error.message);
  }
}

/** What a person is told when standard output cannot be written; undefined for a reader that went away. */
export function describeOutputFailure(
  error: Error & { readonly code?: string | undefined },
): string | undefined {
  if (error.code === 'EPIPE') return undefined;
  const reason = error.code === 'ENOSPC' ? 'no space left on the device' : error.message;
  return `cannot write standard output: ${reason}`;
}

function internal(trace: string): DescribedError {
  return { text: `broadside: internal error, please report it: ${trace}`, exitCode: EARLY_EXIT.internal };
}
