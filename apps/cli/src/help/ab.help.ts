export const help = `Usage: broadside ab [options] [http://]host[:port]/path

Takes the options of ApacheBench, sends the same requests from as many threads and machines as there are, and
prints the same report. Options of ours begin with two dashes.

  -n requests     how many requests to send (1)
  -c connections  how many of them at a time (1)
  -t seconds      longest duration; without -n it alone ends the run
  -s seconds      longest wait for one reply (30)
  -k              keep connections open between requests
  -i              send HEAD
  -m method       send this method
  -p file         POST this file
  -u file         PUT this file
  -T type         Content-type of the file (text/plain)
  -H line         add a header line; may be repeated
  -C name=value   add a cookie; may be repeated
  -A user:pass    basic authentication
  -l              accept replies of different lengths
  -r              go on after a socket error
  -q              no progress lines
  -d              no table of percentiles
  -S              short table of times
  -v level        1 and more: name the failures on stderr; 2 and more: print the request and the
                  first reply too
  -e file         write the percentiles as CSV
  -g file         write a row for each reply, sorted by duration, for gnuplot (from histograms)
  -w              report as an HTML table
  -x, -y, -z attr attributes of its table, rows and cells
  -X host:port    go through this HTTP proxy (port 8080); https in a tunnel
  -P user:pass    basic authentication with the proxy
  -B address      local address for the connections; several with commas
  -b bytes        size of each socket's send and receive buffer
  -f version      TLS version: ALL, TLS1, TLS1.1, TLS1.2, TLS1.3 (ALL)
  -Z ciphers      TLS ciphers in OpenSSL's form
  -E file         client certificate chain and key (PEM)
  -I              send no server name in the TLS handshake
  -V              version
  -h              this page, on stderr, exit code 22

  --agents-at URL  use the agents of this coordinator (or BROADSIDE_COORDINATOR); or --coordinator URL
  --token T        token for it (better: BROADSIDE_TOKEN)
  --token-file F   file that holds the token (or BROADSIDE_TOKEN_FILE)
  --coordinator-ca F  trusted certificates (PEM) for its https (or BROADSIDE_CA)
  --slots N        number of engine threads (as many as are free)
  --transport W    auto, io_uring, epoll or socket, for the engines of this process (auto)
  --ab-counting W  failed requests: each once (once), or as ab 2.3 (classic) or ab 2.5-dev (trunk) count
  --json FILE      write the full report as JSON; - is stdout
`;
