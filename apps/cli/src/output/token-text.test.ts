import { expect, it } from 'vitest';
import { createdTokenNote, tokenTable } from './token-text.js';

const token = {
  id: '0123456789abcdef',
  name: 'ci\u001b[31m',
  role: 'operator',
  source: 'made',
  state: 'valid',
  createdAt: '2026-01-31T12:34:56.789Z',
} as const;

it('lists tokens in columns, and no name can write on the terminal', () => {
  const given = { ...token, id: 'given-join', role: 'agent', source: 'given', name: 'x' } as const;
  const lines = tokenTable([{ ...token, expiresAt: '2026-03-01T00:00:00.000Z' }, given]).split('\n');
  expect(lines[0]).toBe(
    'ID                ROLE      STATE  CREATED            EXPIRES            LAST USED  NAME',
  );
  expect(lines[1]).toMatch(
    /^0123456789abcdef {2}operator {2}valid {2}2026-01-31 12:34Z {2}2026-03-01 00:00Z {2}never/,
  );
  expect(lines[1]).not.toContain('\u001b');
  expect(lines[2]).toMatch(/^given-join {8}agent {5}valid {2}at the start {7}never/);
  expect(tokenTable([])).toBe('no tokens\n');
});

it('says what a new token is, and does not repeat it', () => {
  const note = createdTokenNote({ ...token, token: 'broadside_user_x' });
  expect(note).toBe('token 0123456789abcdef, role operator; it does not expire; it is shown only this once');
});
