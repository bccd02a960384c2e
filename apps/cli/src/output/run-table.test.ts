import { describe, expect, it } from 'vitest';
import { runTable } from './run-table.js';

describe('the list of runs', () => {
  it('has a line for each run, and a dash for what is not known yet', () => {
    const times = { createdAt: '2026-11-30T18:05:09.123Z' };
    expect(
      runTable([
        { id: 'a-1', state: 'running', target: 'http://h/', ...times },
        { id: 'b-2', state: 'finished', target: 'http://h/', ...times, completed: 20_000, verdict: 'pass' },
        { id: 'c-3', state: 'failed', target: 'http://h/x', name: 'nightly\u001b[2J', ...times },
      ]),
    ).toBe(
      [
        'ID   STATE     WHEN               REQUESTS  VERDICT  TARGET',
        'a-1  running   2026-11-30 18:05Z  -         -        http://h/',
        'b-2  finished  2026-11-30 18:05Z  20,000    pass     http://h/',
        'c-3  failed    2026-11-30 18:05Z  -         -        http://h/x (nightly?[2J)',
        '',
      ].join('\n'),
    );
  });

  it('says so when there is none', () => {
    expect(runTable([])).toBe('no runs\n');
  });
});
