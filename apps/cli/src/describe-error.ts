// Loaded with main.ts, so it imports nothing: errors are told by their names, and the numbers mirror EXIT of
// libs/shared, which is too heavy to load for a typing mistake (a test keeps them equal).

/** Exit codes that must be known before libs/shared is loaded. */
export const EARLY_EXIT = { usage: 2, runFailed: 4, cluster: 5, file: 6, internal: 70 } as const;

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
      return describeExhaustion(error) ?? internal(error.stack ?? error.message);
  }
}

/** Whatever needs a file, a thread or memory may meet the end of it: no defect of ours. */
function describeExhaustion(error: Error): DescribedError | undefined {
  const code = 'code' in error ? String(error.code) : '';
  if (code === 'EMFILE' || code === 'ENFILE') {
    const text = 'broadside: too many open files; raise the limit: ulimit -n 65536';
    return { text, exitCode: EARLY_EXIT.runFailed };
  }
  if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'EROFS') {
    return { text: `broadside: ${error.message}`, exitCode: EARLY_EXIT.file };
  }
  if (code === 'ERR_WORKER_OUT_OF_MEMORY' || code === 'ERR_WORKER_INIT_FAILED' || code === 'ENOMEM') {
    const text = `broadside: not enough memory or threads here (${error.message})`;
    return { text, exitCode: EARLY_EXIT.runFailed };
  }
  return undefined;
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
