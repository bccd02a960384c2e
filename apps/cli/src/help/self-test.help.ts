export const help = `Usage: broadside self-test [flags]

Proves on this machine that what Broadside reports is right: fires real runs at a target of its own, which knows
its delays, freezes and faults, and compares. Counts and failure classes must be exact; percentiles within 1 % and
50 µs; the rate within 0.1 %. A time that is off while threads had to wait for a CPU is not held against anybody:
it says "too busy to tell". Takes about a minute and a half.

      --short              about 10 seconds, with fewer requests
      --transport WHICH    auto, io_uring, epoll or socket (auto)
      --json               print everything as JSON
  -q, --quiet              no progress

Exit codes: 0 all is as claimed, 1 something is not, 2 bad flags, 3 too busy to tell.
`;
