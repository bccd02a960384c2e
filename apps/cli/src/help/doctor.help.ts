export const help = `Usage: broadside doctor [flags] [URL]

Prints what this machine is, and what may be wrong with it for a load. With a URL: whether this machine alone
could carry that load. Nothing is sent to the target.

  -c, --connections N      connections kept busy (10)
  -n, --requests N         how many requests
  -d, --duration TIME      how long, like 30s or 5m
      --rate R             requests per second
      --no-keep-alive      a new connection for each request
      --slots N            engine threads (one for each CPU)
      --json               print everything as JSON

Exit codes: 0 fine or only doubtful, 1 the load could not be carried here, 2 bad flags.
`;
