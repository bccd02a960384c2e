export const help = `Usage: broadside audit [options]

Who did what on a coordinator, from where, and how it ended; the newest first.

  --limit N           so many lines (100; at most 1000)
  --before ID         lines older than this one, to read on where a list ended
  --json              as JSON

  --coordinator URL   address (BROADSIDE_COORDINATOR, or http://127.0.0.1:7070)
  --token T           token with the role admin (better: BROADSIDE_TOKEN, or a file)
  --token-file FILE   file that holds it (BROADSIDE_TOKEN_FILE)
  --ca FILE           trusted certificates (PEM) for https, instead of Node's own (BROADSIDE_CA)
`;
