/** The audit log for people to read. Pure. */
import { type AuditEntry, printable } from '@broadside/shared';
import { tableOf } from './text-table.js';

const HEADINGS = ['ID', 'AT', 'ACTION', 'RESULT', 'WHO', 'FROM', 'WHAT'] as const;

export function auditTable(entries: readonly AuditEntry[]): string {
  return entries.length === 0 ? 'nothing\n' : tableOf([HEADINGS, ...entries.map(cellsOf)]);
}

function cellsOf({ id, at, action, result, who, address, subject, detail, count }: AuditEntry): string[] {
  const details = Object.entries(detail).map(([name, value]) => `${name}=${value}`);
  const what = [
    ...(subject === undefined ? [] : [subject]),
    ...details,
    ...(count === 1 ? [] : [`× ${count}`]),
  ];
  const name = who === undefined ? '-' : `${who.name} (${who.role} ${who.tokenId})`;
  return [String(id), at, action, result, name, address, what.join(' ')].map(printable);
}
