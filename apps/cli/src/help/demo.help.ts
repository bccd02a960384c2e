export const help = `Usage: broadside demo [--transport WHICH]

Starts a target and an embedded cluster on this machine, fires a run of a few seconds at it, prints the report
and how to go on, and takes everything down again.

  --transport WHICH    auto, io_uring, epoll or socket (auto)
`;
