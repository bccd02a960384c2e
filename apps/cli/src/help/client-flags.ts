/**
 * Help on the flags of the commands that ask a coordinator (client/client-flags.ts).
 * @param token what kind of token they need.
 */
export function clientFlagsHelp(token: string): string {
  return `  --coordinator URL   address (BROADSIDE_COORDINATOR, or http://127.0.0.1:7070)
  --token T           ${token} (better: BROADSIDE_TOKEN, or a file)
  --token-file FILE   file that holds it (BROADSIDE_TOKEN_FILE)
  --ca FILE           trusted certificates (PEM) for https, instead of Node's own (BROADSIDE_CA)
`;
}
