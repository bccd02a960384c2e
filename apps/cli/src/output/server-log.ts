import { type Logger, pino } from 'pino';
import type { LogFormat } from './log-format.js';
import { logText } from './log-text.js';
import { writeNote } from './streams.js';

/** What a server tells while it runs, on stderr: lines for people, or one JSON object a line for programs. */
export interface ServerLog {
  /** For the parts of the program. */
  readonly logger: Logger;
  /** Tells what the command itself does, in the same form. */
  readonly note: (text: string) => void;
}

export function openServerLog(format: LogFormat, level: 'info' | 'warn'): ServerLog {
  if (format === 'text') {
    const write = (line: string): boolean => process.stderr.write(`broadside: ${logText(line)}\n`);
    return { logger: pino({ level, base: null }, { write }), note: writeNote };
  }
  const log = pino({ level: 'info' }, pino.destination({ fd: 2, sync: true }));
  return { logger: log.child({}, { level }), note: (text) => log.info(text) };
}
