import { clientFlagsHelp } from './client-flags.js';

export const help = `Usage: broadside runs [options]

The newest runs of a coordinator: id, state, when it was taken in, complete requests, verdict, target.

  --limit N           so many runs (20; at most 1000)
  --json              as JSON

${clientFlagsHelp('token with the role viewer')}
\`broadside report ID\` prints the report of one of them.
`;
