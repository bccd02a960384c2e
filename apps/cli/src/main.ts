// Where the process begins. It imports nothing at first: where a process may hardly open files, the import of the rest
// fails, and somebody must be left to say why.
const AB_TOO_MANY_FILES = 24;
const RUN_FAILED = 4;

function tellFailedImport(error: unknown): void {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code !== 'EMFILE' && code !== 'ENFILE') throw error;
  process.stderr.write(
    'broadside: too few open files are allowed to start; raise the limit: ulimit -n 65536\n',
  );
  process.exitCode = process.argv[2] === 'ab' ? AB_TOO_MANY_FILES : RUN_FAILED;
}

const program = await import('./program.js').catch(tellFailedImport);
await program?.runProgram();

export {};
