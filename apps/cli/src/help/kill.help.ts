export const help = `Usage: broadside kill [--reason TEXT] [options]
       broadside kill --release [options]
       broadside kill --status [options]

Stops all load of all runs within a second, and keeps new runs away until it is released, over restarts of the
coordinator too. It works while Redis is away. Agents that the coordinator cannot reach stop by themselves after 60 s.

  --reason TEXT       shown in the reports of the runs that it ends
  --release           let runs in again
  --status            say whether it is on
  --coordinator URL   the coordinator (BROADSIDE_COORDINATOR, or http://127.0.0.1:7070)
  --token-file FILE   file that holds a token for it: role operator to stop, admin to release (or BROADSIDE_TOKEN)
  --token T           the token itself, which others on the machine can see
`;
