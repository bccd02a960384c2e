import { expect, it } from 'vitest';
import { auditTable } from './audit-text.js';

it('shows who did what, from where, and how it ended', () => {
  const line = { at: '2026-01-31T12:34:56.789Z', address: '192.0.2.1', count: 1 };
  const who = { tokenId: '0123456789abcdef', name: 'ci\u001b[2J', role: 'operator' } as const;
  const text = auditTable([
    {
      ...line,
      id: 12,
      action: 'run.create',
      who,
      subject: 'r-1',
      result: 'done',
      detail: { target: 'http://t/' },
    },
    { ...line, id: 7, action: 'login.failed', result: 'unauthorized', detail: { door: 'people' }, count: 40 },
  ]);
  const [, first, second] = text.split('\n');
  expect(first).toMatch(
    /^12 .* run\.create {4}done {10}ci.*\(operator 0123456789abcdef\) {2}192\.0\.2\.1 {2}r-1 target=http:\/\/t\/$/,
  );
  expect(second).toMatch(/^7 .* login\.failed {2}unauthorized {2}- .* door=people × 40$/);
  expect(text).not.toContain('\u001b');
  expect(auditTable([])).toBe('nothing\n');
});
