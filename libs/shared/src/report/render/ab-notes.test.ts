import { expect, it } from 'vitest';
import { balancedCounters, sampleReport } from '../../testing/observed.js';
import { abNotes } from './ab-notes.js';

it('says after the report who sent, whether the books balance, who was the limit, and times in µs', () => {
  const report = sampleReport({
    seen: {
      counters: balancedCounters({ completed: 100 }),
      samples: {
        connect: [150],
        wait: [400],
        fresh: [800],
        freshProcessing: [650],
        reused: Array.from({ length: 99 }, () => 499),
      },
      gauges: { firstSendUs: 0, lastEventUs: 50_000 },
    },
  });
  expect(abNotes(report)).toBe(
    [
      '',
      `Broadside ${report.broadsideVersion}, run run-1`,
      'Agents:                 a1: 0 requests (0 %), 1 shard',
      'Machines:               a1: test, 2 CPUs, 954MiB RAM, Linux, Node v20.20.2',
      'Books:                  balance: 100 planned = 100 completed',
      'Verdict:                pass; limit: undecided',
      '                        too little to tell who was the limit: 1 reply in 50ms',
      '',
      'Connection Times (us)  min  mean  +/-sd  median  max',
      'Connect:                 0     1     15       0  150',
      'Processing:            499   500     15     499  650',
      'Waiting:               400   400      0     400  400',
      'Total:                 499   502     30     499  800',
      '',
    ].join('\n'),
  );
});

it('warns first, and has no times where nothing was timed', () => {
  const text = abNotes(sampleReport({ input: { problems: ['shard 0: interval 2 is missing'] } }));
  expect(text).toMatch(/run run-1\nWarning: {16}the books do not balance/);
  expect(text).not.toContain('Connection Times');
});

it('names the most connections that were open at once, which a short run has closed by the end of its second', () => {
  const row = { second: 0, planned: 5, sent: 5, completed: 5, failed: 0, inFlight: 0, bytesReceived: 5 };
  const notesWith = (open: { openConnections: number; openConnectionsMax?: number }): string =>
    abNotes(sampleReport({ input: { seconds: [{ ...row, ...open, busyShareMax: 0 }] } }));
  const achieved = 'Concurrency achieved:   ';
  expect(notesWith({ openConnections: 0, openConnectionsMax: 7 })).toContain(`\n${achieved}7\n`);
  expect(notesWith({ openConnections: 5 })).toContain(`\n${achieved}5\n`);
  expect(notesWith({ openConnections: 0 })).not.toContain(achieved);
});
