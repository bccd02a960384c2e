import { expect, it } from 'vitest';
import type { CounterRecord } from '../metrics/counters.js';
import type { PlanInput } from '../plan/plan.schema.js';
import { balancedCounters, sampleReport } from '../testing/observed.js';
import { AB_DIFFERENCE_TEXTS, AB_DIFFERENCES, abDifferencesOf } from './ab-differences.js';
import { abNotes } from './render/ab-notes.js';

function differences(
  counters: Partial<CounterRecord>,
  plan: Partial<PlanInput> = {},
  firstReply = 'HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n\r\n',
) {
  const report = sampleReport({
    plan: { requests: 20, connections: 1, probe: true, checkLength: true, ...plan },
    seen: { counters: balancedCounters(counters) },
    input: counters.completed === undefined ? {} : { referenceBytes: 100 },
  });
  return abDifferencesOf({ ...report, target: { ...report.target, firstReply } });
}

it('are none where every reply is read as ab reads it', () => {
  expect(differences({ completed: 20, keepAliveReplies: 20 })).toEqual([]);
  expect(differences({ completed: 10, lengthDiffers: 10 })).toEqual([]);
  expect(differences({ completed: 18, truncated: 2 })).toEqual([]);
  expect(differences({ closedWithoutReplyNew: 20 })).toEqual([]);
});

it.each([
  ['timedOut', { completed: 19, timeout: 1 }],
  ['notHttp', { malformed: 20 }],
  ['tooLarge', { tooLarge: 20 }],
  ['cutOff', { truncated: 20 }],
  ['surplus', { completed: 20, repliesWithSurplus: 20 }],
  ['exceptions', { completed: 18, closedWithoutReplyReused: 2 }],
  ['refused', { connectRefused: 20 }],
] as const)('%s: %j', (name, counters) => {
  expect(differences(counters)).toEqual([name]);
});

it('depend on the options of the run and on what the first reply looks like', () => {
  expect(differences({ connectRefused: 1 }, { onSocketError: 'stop' })).toEqual([]);
  expect(differences({ completed: 20, connectionsLeftToUs: 19 }, { keepAlive: false })).toEqual(['leftOpen']);
  const kept = { completed: 20, keepAliveReplies: 20 };
  expect(differences(kept, {}, 'HTTP/1.1 200 OK\r\n\r\n')).toEqual(['keptSilently']);
  expect(differences(kept, {}, 'HTTP/1.1 100 Continue\r\n\r\nKeep-Alive')).toEqual(['interim']);
  expect(
    differences(kept, {}, 'HTTP/1.1 200 OK\r\nKEEP-ALIVE: 1\r\nTransfer-encoding: Chunked\r\n\r\n'),
  ).toEqual(['chunked']);
});

it('are told in the notes of classic counting, one line each, and in no other', () => {
  const report = sampleReport({ seen: { counters: balancedCounters({ completed: 99, timeout: 1 }) } });
  const told = (counting: 'once' | 'classic'): string => abNotes(report, counting).replace(/\s+/g, ' ');
  expect(told('classic')).toContain(`Unlike ab 2.3: ${AB_DIFFERENCE_TEXTS.timedOut}`);
  expect(told('once')).not.toContain('Unlike ab');
  for (const name of AB_DIFFERENCES) expect(AB_DIFFERENCE_TEXTS[name]).toMatch(/^[^\n]{40,112}$/);
});
