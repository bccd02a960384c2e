import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import type { AuditRepository, NewAuditEntry } from './audit.repository.js';
import { AuditLog } from './audit-log.js';

const lines: NewAuditEntry[] = [];
const repository = {
  append: async (entry: NewAuditEntry) => void lines.push(entry),
  prune: async () => undefined,
  // Of a class with private parts, so that no literal is one.
} as unknown as AuditRepository;

afterEach(() => {
  lines.length = 0;
});

describe('what a role was too little for', () => {
  it('is one line for a holder, an address and an act, however often it is tried', async () => {
    const audit = new AuditLog({ repository, now: () => new Date(0), log: pino({ level: 'silent' }) });
    const caller = { tokenId: 'v', name: 'wall', role: 'viewer', address: '192.0.2.1' } as const;
    for (let i = 0; i < 10_000; i++) audit.noteForbidden(caller, 'run.create');
    audit.noteForbidden(caller, 'kill');
    await audit.close();
    expect(lines.map(({ action, result, count }) => [action, result, count])).toEqual([
      ['run.create', 'forbidden', 10_000],
      ['kill', 'forbidden', 1],
    ]);
    expect(lines[0]?.caller).toEqual(caller);
  });

  it('is told together beyond a thousand of them, and none is lost', async () => {
    const audit = new AuditLog({ repository, now: () => new Date(0), log: pino({ level: 'silent' }) });
    for (let i = 0; i < 1_500; i++) {
      audit.noteForbidden({ tokenId: 'v', name: 'wall', role: 'viewer', address: `a${i}` }, 'kill');
    }
    await audit.close();
    expect(lines).toHaveLength(1_001);
    expect(lines.at(-1)).toMatchObject({ caller: undefined, address: 'others', count: 500 });
  });
});
