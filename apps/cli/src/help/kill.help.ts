import { clientFlagsHelp } from './client-flags.js';

export const help = `Usage: broadside kill [--reason TEXT] [options]
       broadside kill --release [options]
       broadside kill --status [options]

Stops all load of all runs within a second, and keeps new runs away until it is released, over restarts of the
coordinator too. It works while Redis is away. Agents that the coordinator cannot reach stop by themselves after 60 s.

  --reason TEXT       shown in the reports of the runs that it ends
  --release           let runs in again
  --status            say whether it is on

${clientFlagsHelp('token with the role operator to stop, admin to release, viewer to ask')}`;
