export const help = `Usage: broadside run [flags] URL
       broadside run [flags] plan.yaml

Flags override the plan file.

  -n, --requests N         how many requests to send
  -d, --duration TIME      how long to send, like 30s or 5m; with -n whichever comes first (10s without -n)
  -c, --connections N      connections kept busy; with a rate, at most so many (10)
  -r, --rate N             requests per second over all slots, like 20000 or 0.5
      --arrivals KIND      of a rate: constant, or poisson for random ones (constant)
      --seed N             of random arrivals (1)
      --stage TIME:N       go to rate N (with a c behind it: N connections) within TIME; may be repeated
      --warmup TIME        load before the measured time, whole seconds, counted in no total
      --pipeline N         requests in flight on one connection (1)
      --retry-idempotent   send once more what met an unannounced close of a reused connection
      --method METHOD      GET
  -H, --header LINE        "Name: value"; may be repeated
      --body TEXT          request body
      --body-file FILE     request body from a file
      --timeout TIME       longest time for one request (30s)
      --http-version V     1.1 or 1.0 (1.1)
      --no-keep-alive      a new connection for each request
      --user NAME:PASS     basic authentication
      --cookie A=B         add a cookie; may be repeated
      --connect-timeout T  longest time until a connection is open (the timeout)
      --bind A,B,…         local addresses for the connections, in turn
      --addresses WHICH    of a name with several: first, or spread over all (first)
      --socket-buffer N    bytes of each socket's send and receive buffer
      --connect-to H[:P]   connect there instead of to the URL's host and port
      --unix-socket PATH   connect to this socket instead of the URL's host
      --proxy URL          go through an HTTP proxy, http://host[:port] (8080)
      --proxy-user N:P     basic authentication with the proxy
      --insecure           do not check the target's certificate
      --ca FILE            trusted certificates (PEM) instead of the usual ones
      --cert FILE          client certificate chain (PEM), with its
      --key FILE           private key (PEM)
      --server-name NAME   name in the TLS handshake (the URL's host)
      --no-server-name     none
      --tls-min V          lowest version of TLS: 1.0, 1.1, 1.2, 1.3
      --tls-max V          highest
      --ciphers LIST       in OpenSSL's form
      --resume-sessions    new connections resume a TLS session
      --slots N            number of engine threads (as many as are free)
      --weights WHICH      share of each slot: by its capacity, or equal (capacity)
      --on NAME=VALUE      only on agents with this label, like zone=eu; may be repeated
      --max-wait TIME      longest time to wait for the slots (1h)
      --on-agent-loss WHAT load of a lost agent: rebalance, continue without, or abort (rebalance)
      --transport WHICH    auto, io_uring, epoll or socket, for the engines of this process (auto)
      --name TEXT          shown in lists and reports
      --json FILE          write the full report as JSON; - is stdout
      --coordinator URL    run there instead of here (or BROADSIDE_COORDINATOR)
      --token T            token for it (better: BROADSIDE_TOKEN)
      --token-file FILE    file that holds the token (or BROADSIDE_TOKEN_FILE)
      --coordinator-ca F   trusted certificates (PEM) for its https (or BROADSIDE_CA)
  -q, --quiet              no progress

A plan file has the same names: target, requests, duration, connections, method, headers, body, timeout,
httpVersion, keepAlive, user, connectTimeout, bind, addresses, socketBufferBytes, unixSocket, proxy, proxyUser,
tls (verify, ca, cert, key, serverName, minVersion, maxVersion, ciphers, resumeSessions), rate, arrivals, seed,
stages (each with duration, and rate or connections), warmup, pipeline, retryIdempotent, slots,
weights, on (a map of labels), maxWait, onAgentLoss, name.

Exit codes: 0 pass, 1 fail (a missed rate too), 2 bad flags or plan, 3 inconclusive, 4 could not be carried out,
5 coordinator, 6 file, 130 interrupted.
`;
