import { createTrialServer } from './trial-server.js';

// One process of the target, started by trial-target.ts, whose options are the only argument. It ends when its
// parent is gone: a lost channel ends every member of a node:cluster.

interface MemberOptions {
  readonly host: string;
  readonly port: number;
  readonly sizeBytes: number;
  readonly delayMs: number;
}

/** The parent is the same program; the check is against being started by hand. */
function memberOptions(text: string | undefined): MemberOptions | undefined {
  const value: unknown = text === undefined ? undefined : JSON.parse(text);
  if (typeof value !== 'object' || value === null) return undefined;
  if (!('host' in value && 'port' in value && 'sizeBytes' in value && 'delayMs' in value)) return undefined;
  return {
    host: String(value.host),
    port: Number(value.port),
    sizeBytes: Number(value.sizeBytes),
    delayMs: Number(value.delayMs),
  };
}

const options = memberOptions(process.argv[2]);
if (options === undefined || process.send === undefined) {
  process.stderr.write('this file is started by `broadside target`\n');
  process.exit(2);
}
// Ctrl-C reaches the whole group; the parent decides when the target ends.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);
createTrialServer(options).listen(options.port, options.host);
