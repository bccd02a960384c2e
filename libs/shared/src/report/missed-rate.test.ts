import { describe, expect, it } from 'vitest';
import type { PlanInput } from '../plan/plan.schema.js';
import { balancedCounters, sampleReport } from '../testing/observed.js';
import { EXIT, exitCodeOf } from './exit-code.js';
import { abNotes } from './render/ab-notes.js';
import { summaryText } from './render/summary-text.js';
import type { Report } from './report.schema.js';

/** 1,600 requests are due at 400/s for 4 s. */
function pacedRun(
  missing: { readonly notSentNoConnection?: number; readonly notSentTimeOver?: number },
  more: { readonly plan?: Partial<PlanInput>; readonly lastEventUs?: number; readonly totalUs?: number } = {},
): Report {
  const sent = 1_600 - (missing.notSentNoConnection ?? 0) - (missing.notSentTimeOver ?? 0);
  const { lastEventUs = 4_000_000, totalUs = 1_000, plan } = more;
  return sampleReport({
    plan: { rate: 400, requests: undefined, duration: '4s', ...plan },
    seen: {
      counters: balancedCounters({ ...missing, planned: 1_600, sent, completed: sent }),
      samples: { reused: [totalUs] },
      gauges: { firstSendUs: 0, lastEventUs },
    },
  });
}

describe('a rate that was not reached', () => {
  const sentence = 'asked for 400/s, reached 89.5/s: 1,242 of 1,600 requests that were due were not sent';

  it.each(['notSentNoConnection', 'notSentTimeOver'] as const)('fails the run: %s', (counter) => {
    const report = pacedRun({ [counter]: 1_242 });
    expect(report.verdict).toMatchObject({ outcome: 'fail', warning: sentence });
    expect(report.verdict.reasons[0]).toBe(sentence);
    expect(exitCodeOf(report)).toBe(EXIT.verdictFail);
  });

  it('is marked at the headline number of every text', () => {
    const report = pacedRun({ notSentNoConnection: 1_242 });
    expect(summaryText(report).replace(/\s+/g, ' ')).toContain(`! ${sentence}`);
    expect(abNotes(report).replace(/\s+/g, ' ')).toContain(`Warning: ${sentence}`);
  });

  it('is told without a rate where stages had several', () => {
    const stages = [{ duration: '4s', rate: 800 }];
    const { verdict } = pacedRun({ notSentNoConnection: 1_242 }, { plan: { rate: undefined, stages } });
    expect(verdict.warning).toBe(
      'the rate was not reached: 1,242 of 1,600 requests that were due were not sent',
    );
  });

  it('is seen by the time where a budget was sent in full', () => {
    const plan = { requests: 1_600, duration: undefined };
    const late = pacedRun({}, { plan, lastEventUs: 17_778_000 });
    expect(late.verdict).toMatchObject({ outcome: 'fail' });
    expect(late.verdict.warning).toBe('asked for 400/s, reached 90.0/s: the requests were sent late');
    expect(pacedRun({}, { plan, lastEventUs: 4_050_000 }).verdict.outcome).toBe('pass');
    // One slow reply at the end is no slow schedule.
    expect(pacedRun({}, { plan, lastEventUs: 9_000_000, totalUs: 5_000_000 }).verdict.outcome).toBe('pass');
  });

  it('is none where few requests fill the whole time, the last of them before its end', () => {
    const slow = sampleReport({
      plan: { rate: 1, requests: undefined, duration: '4s' },
      seen: {
        counters: balancedCounters({ planned: 4, sent: 4, completed: 4 }),
        samples: { reused: [1_000] },
        gauges: { firstSendUs: 0, lastEventUs: 4_000_000 },
      },
    });
    expect(slow.verdict.outcome).toBe('pass');
  });

  it('allows one in a hundred, and one for each shard', () => {
    expect(pacedRun({}).verdict).toMatchObject({ outcome: 'pass' });
    expect(pacedRun({ notSentNoConnection: 16 }).verdict.outcome).toBe('pass');
    expect(pacedRun({ notSentNoConnection: 17 }).verdict.outcome).toBe('fail');
  });

  it('is none where a person stopped the run, or the rest of a budget had not come due', () => {
    const rest = pacedRun({ notSentTimeOver: 1_242 }, { plan: { requests: 1_600, rate: 90 } });
    expect(rest.verdict.outcome).toBe('pass');
    const stopped = sampleReport({
      plan: { rate: 400, requests: 1_600 },
      seen: { counters: balancedCounters({ completed: 400, planned: 1_600, notSentStopped: 1_200 }) },
      input: { run: { ...sampleReport().run, state: 'aborted' } },
    });
    expect(stopped.verdict.outcome).toBe('aborted');
    expect(stopped.verdict.warning).toBeUndefined();
  });
});
