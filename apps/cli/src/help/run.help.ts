export const help = `Usage: broadside run [flags] URL
       broadside run [flags] plan.yaml

Flags override the plan file.

  -n, --requests N         how many requests to send
  -d, --duration TIME      how long to send, like 30s or 5m; with -n whichever comes first (10s without -n)
  -c, --connections N      connections kept busy (10)
      --method METHOD      GET
  -H, --header LINE        "Name: value"; may be repeated
      --body TEXT          request body
      --body-file FILE     request body from a file
      --timeout TIME       longest time for one request (30s)
      --http-version V     1.1 or 1.0 (1.1)
      --no-keep-alive      a new connection for each request
      --slots N            number of engine threads (as many as are free)
      --name TEXT          shown in lists and reports
      --json FILE          write the full report as JSON; - is stdout
      --coordinator URL    run there instead of here (or BROADSIDE_COORDINATOR)
      --token T            token for it (better: BROADSIDE_TOKEN)
  -q, --quiet              no progress

A plan file has the same names: target, requests, duration, connections, method, headers, body, timeout,
httpVersion, keepAlive, slots, name.

Exit codes: 0 pass, 1 fail, 2 bad flags or plan, 3 inconclusive, 4 could not be carried out, 5 coordinator,
6 file, 130 interrupted.
`;
