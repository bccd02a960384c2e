import { clientFlagsHelp } from './client-flags.js';

export const help = `Usage: broadside audit [options]

Who did what on a coordinator, from where, and how it ended; the newest first.

  --limit N           so many lines (100; at most 1000)
  --before ID         lines older than this one, to read on where a list ended
  --json              as JSON

${clientFlagsHelp('token with the role admin')}`;
