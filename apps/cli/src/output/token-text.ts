/** Tokens for people to read: who, what, until when. Pure. */
import { type CreatedToken, printable, type TokenSummary } from '@broadside/shared';
import { minuteOf } from './minute-of.js';
import { tableOf } from './text-table.js';

const HEADINGS = ['ID', 'ROLE', 'STATE', 'CREATED', 'EXPIRES', 'LAST USED', 'NAME'] as const;

/** One line for each token, in columns. */
export function tokenTable(tokens: readonly TokenSummary[]): string {
  if (tokens.length === 0) return 'no tokens\n';
  return tableOf([HEADINGS, ...tokens.map(cellsOf)]);
}

export function createdTokenNote({ id, role, expiresAt }: CreatedToken): string {
  const until = expiresAt === undefined ? 'it does not expire' : `it expires ${minuteOf(expiresAt)}`;
  return `token ${id}, role ${role}; ${until}; it is shown only this once`;
}

function cellsOf(token: TokenSummary): string[] {
  return [
    token.id,
    token.role,
    token.state,
    token.source === 'given' ? 'at the start' : minuteOf(token.createdAt),
    token.expiresAt === undefined ? 'never' : minuteOf(token.expiresAt),
    token.lastUsedAt === undefined ? 'never' : minuteOf(token.lastUsedAt),
    printable(token.name),
  ];
}
