export const help = `Usage: broadside target [options]

Starts a small HTTP server in several processes, to try things on. Its address is the first line of stdout.

  --port N         port (0: a free one)
  --host ADDRESS   address to listen on (127.0.0.1)
  --processes N    number of processes (half of the cores, at least 1)
  --size BYTES     body length of each reply (100)
  --delay TIME     wait before each reply, like 5ms (0)
`;
