import { clientFlagsHelp } from './client-flags.js';

export const help = `Usage: broadside report RUN_ID [options]

Prints the report of a run that has ended, as \`broadside run\` prints it. The first characters of the id are enough,
where no other of the newest 200 runs begins with them; \`broadside runs\` lists them.

  --wait              of a run that goes on: show its progress, and print the report when it has ended. To leave
                      (Ctrl-C) does not stop the run
  --json FILE         write the full report as JSON; - is stdout
  -q, --quiet         no progress

${clientFlagsHelp('token with the role viewer')}
Exit codes: those of \`broadside run\` for this report; 2 bad flags; 5 no report: no such run, it goes on or ended
without one, or the coordinator cannot be reached or refused; 6 file.
`;
