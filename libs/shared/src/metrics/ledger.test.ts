import { describe, expect, it } from 'vitest';
import { balancedCounters, observed } from '../testing/observed.js';
import type { CounterRecord } from './counters.js';
import { type LedgerContext, ledgerProblems } from './ledger.js';

function problems(counters: Partial<CounterRecord>, context: Partial<LedgerContext> = {}): string[] {
  return ledgerProblems(observed({ counters }).counters, { isFinal: true, ...context });
}

/** Every line of the identity has a number of its own. */
const WHOLE: Partial<CounterRecord> = {
  planned: 106,
  notSentTimeOver: 1,
  notSentStopped: 2,
  notSentFatal: 3,
  sent: 100,
  completed: 80,
  timeout: 7,
  truncated: 5,
  inFlightAtEnd: 8,
  connectionsAsked: 20,
  connectionsOpened: 18,
  connectionsFailed: 2,
  connectionsClosedByUs: 10,
  connectionsClosedAnnounced: 5,
  connectionsClosedUnannounced: 2,
  connectionsClosedIdle: 1,
};

describe('ledgerProblems', () => {
  it('has none when every line adds up', () => {
    expect(problems(WHOLE, { requests: 106 })).toEqual([]);
    expect(problems(balancedCounters({ completed: 5, timeout: 1 }))).toEqual([]);
    expect(problems({})).toEqual([]);
  });

  it.each(Object.keys(WHOLE) as (keyof CounterRecord)[])('sees one too many of %s', (name) => {
    const changed = problems({ ...WHOLE, [name]: (WHOLE[name] ?? 0) + 1 }, { requests: 106 });
    expect(changed.length).toBeGreaterThan(0);
  });

  it('counts requests that were lost with an agent as sent', () => {
    expect(problems({ ...WHOLE, completed: 70 }, { lostWithAgent: 10 })).toEqual([]);
    expect(problems(WHOLE, { lostWithAgent: 10 })).toEqual([
      'sent 100 is not completed and failed 92 + in flight at end 8 + lost with agents 10',
    ]);
  });

  it('names both numbers when fewer requests were planned than asked for', () => {
    expect(problems(WHOLE, { requests: 200 })).toEqual(['planned 106 is not the 200 requests of the plan']);
  });

  it('lets requests and connections be under way while the run goes on', () => {
    const going: Partial<CounterRecord> = {
      planned: 100,
      sent: 100,
      completed: 90,
      connectionsAsked: 10,
      connectionsOpened: 8,
    };
    expect(problems(going, { isFinal: false, requests: 1_000 })).toEqual([]);
    expect(problems(going)).toHaveLength(3);
  });

  it('sees more outcomes than sends while the run goes on', () => {
    expect(problems({ planned: 1, sent: 1, completed: 2 }, { isFinal: false })).toEqual([
      'completed and failed 2 are more than sent 1',
    ]);
    expect(problems({ connectionsOpened: 1, connectionsClosedIdle: 2 }, { isFinal: false })).toHaveLength(2);
  });
});
