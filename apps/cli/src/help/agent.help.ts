export const help = `Usage: broadside agent --join URL [options]

Joins a coordinator and offers slots to it. SIGTERM and SIGINT drain: no more shards are taken, the load stops,
what was measured is delivered; a second signal leaves at once.

  --join URL          address of the coordinator, like http://coordinator:7070
  --token T           join token (better: BROADSIDE_JOIN_TOKEN, or --token-file)
  --token-file FILE   file that holds the join token (or BROADSIDE_JOIN_TOKEN_FILE)
  --ca FILE           trusted certificates (PEM) for https, instead of Node's own (BROADSIDE_CA)
  --slots N           number of slots, one engine thread each (one per core)
  --name TEXT         name in reports (the host's name)
  --weight N          share of each slot, compared with a usual one, like 2 or 0.5 (by its measured capacity)
  --label NAME=VALUE  what runs may choose agents by, like zone=eu; may be repeated
  --redis URL         address of Redis, if it differs from what the coordinator says (BROADSIDE_REDIS_URL)
  --allow-target RULE where this machine lets load go, whatever the coordinator allows (everywhere but to link-local
                      and metadata addresses); may be repeated, rules as in \`broadside help serve\`
  --deny-target RULE  where it lets none go
  --transport WHICH   auto, io_uring, epoll or socket (auto, or BROADSIDE_TRANSPORT)
  --log-format WHICH  text or json, for the lines on stderr (text, or BROADSIDE_LOG_FORMAT)
`;
