export const help = `Usage: broadside serve [options]

Starts a coordinator. Without --redis everything is embedded: queue, store and slots in this process.

  --host ADDRESS      address to listen on (127.0.0.1); beyond loopback somebody must have an admin token
  --port N            port (7070); 0 takes a free one
  --data-dir DIR      where runs are kept; without it they are forgotten at the end
  --database URL      PostgreSQL instead of the embedded store, for one coordinator at a time (not through a pooler that
                      gives each transaction another session)
  --keep-runs N       ended runs that the store keeps (1000); older ones are forgotten, with their reports, when a run
                      ends
  --redis URL         Redis for shards, so that agents on other machines can take them
  --agent-redis URL   address of the same Redis as agents see it, if it differs
  --admin-token-file FILE   a token with the role admin, for \`broadside token create\`; when nobody has one, it is
                      made and written to this file
  --token T           a token with the role admin, as long as this process lives
  --join-token T      a token for agents, as long as this process lives; made up when it is missing
  --tls-cert FILE     certificate chain (PEM); with it and the key, https and wss are served and nothing else. Both are
  --tls-key FILE      read again when they change, and on SIGHUP
  --trust-proxy LIST  proxies (addresses, or networks like 10.0.0.0/8, with commas) whose X-Forwarded-For and
                      X-Forwarded-Host are believed; none
  --slots N           slots in this process (one per core; 0 with --redis)
  --transport WHICH   auto, io_uring, epoll or socket, for these slots (auto)
  --log-format WHICH  text or json, for the lines on stderr (text)
  --allow-target RULE where load may go; may be repeated (with --redis, or beyond loopback: loopback and private
                      networks; else everywhere). RULE: a name, *.name, an address, a network like 10.0.0.0/8,
                      loopback, private, * or unix:/path, and :port or :first-last behind it
  --deny-target RULE  where none may go, whatever is allowed; link-local and metadata addresses are never allowed
                      but by their own address or network, here and at the agents
  --max-run-rate N    requests per second that one run may ask for; a run without a rate is refused then
  --max-rate N        the same of all runs together; runs wait until there is room
  --max-run-connections N, --max-connections N
                      the same for connections

SIGTERM or SIGINT ends the coordinator and its runs, whose reports are stored. One that was killed or crashed leaves
them: with --redis and a kept store (--data-dir or --database) the next start goes on with them.

Each option may come from the environment instead: BROADSIDE_HOST, BROADSIDE_PORT, BROADSIDE_DATA_DIR,
BROADSIDE_DATABASE_URL, BROADSIDE_KEEP_RUNS, BROADSIDE_REDIS_URL, BROADSIDE_AGENT_REDIS_URL, BROADSIDE_TOKEN,
BROADSIDE_JOIN_TOKEN, BROADSIDE_ADMIN_TOKEN_FILE, BROADSIDE_TLS_CERT, BROADSIDE_TLS_KEY, BROADSIDE_TRUST_PROXY,
BROADSIDE_SLOTS, BROADSIDE_TRANSPORT, BROADSIDE_LOG_FORMAT, BROADSIDE_ALLOW_TARGETS and BROADSIDE_DENY_TARGETS (with
commas), BROADSIDE_MAX_RUN_RATE, BROADSIDE_MAX_RATE, BROADSIDE_MAX_RUN_CONNECTIONS, BROADSIDE_MAX_CONNECTIONS.
Tokens belong there: command lines can be seen by others.
`;
