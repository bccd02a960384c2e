import { LIMITS } from '@broadside/shared';
import { clientFlagsHelp } from './client-flags.js';

/** As they are typed. */
export const LEAST_LIFE = `${LIMITS.minTokenLifeMs / 60_000}m`;
export const MOST_LIFE = `${LIMITS.maxTokenLifeMs / 86_400_000}d`;

export const help = `Usage: broadside token create --role ROLE --name TEXT [--expires TIME] [options]
       broadside token list [--json] [options]
       broadside token revoke ID [options]

Who may do what on a coordinator. A token is printed once, alone on stdout; the coordinator keeps only its digest.
Revoking takes effect at once, also for agents and watchers that are connected with it. To renew a token, create
another one, hand it out, and revoke the old one; nothing has to be restarted.

  --role ROLE         viewer   reads runs, reports and agents
                      operator fires and stops runs too
                      admin    makes and revokes tokens too
                      agent    lets agents join, and nothing else
  --name TEXT         who holds it, where it was left
  --expires TIME      life of the token, like 12h or 30d, from ${LEAST_LIFE} to ${MOST_LIFE};
                      without it, it lasts until it is revoked
  --json              the list as JSON

${clientFlagsHelp('token with the role admin')}
A coordinator on loopback without any token needs none. The first token for people must have the role admin, and
from then on everybody needs one. See SECURITY.md.
`;
