import { describe, expect, it } from 'vitest';
import { FUZZ_SEED, Random } from '../testing/random.js';
import { outlierSentence, outlyingAgents, type PeerFigures } from './outliers.js';

function agent(i: number, figures: Partial<PeerFigures> = {}): PeerFigures {
  const usual = { ended: 10_000, rateHz: 1_000, share: 0.25, p50Us: 1_000, p99Us: 5_000 };
  return { agentId: `a${i}`, name: `agent-${i}`, ...usual, ...figures };
}

const named = (agents: readonly PeerFigures[]) =>
  outlyingAgents(agents).map(({ name, measure }) => `${name} ${measure}`);

describe('agents that stand out', () => {
  it('are none where all see the same', () => {
    for (const count of [0, 1, 2, 3, 4, 50]) {
      expect(named(Array.from({ length: count }, (_, i) => agent(i)))).toEqual([]);
    }
  });

  it('are none of two, however different: nobody knows which is odd', () => {
    expect(named([agent(0), agent(1, { p50Us: 900_000, p99Us: 1e6, rateHz: 10 })])).toEqual([]);
  });

  it('are named with the measure in which they do', () => {
    expect(named([agent(0), agent(1), agent(2, { p99Us: 50_000 })])).toEqual(['agent-2 p99']);
    expect(named([agent(0), agent(1, { p50Us: 100 }), agent(2), agent(3)])).toEqual(['agent-1 p50']);
    expect(named([agent(0, { rateHz: 500 }), agent(1), agent(2), agent(3)])).toEqual(['agent-0 rate']);
  });

  it('do not hide behind each other', () => {
    const slow = { p50Us: 20_000 };
    const agents = [agent(0, slow), agent(1, slow), agent(2), agent(3), agent(4), agent(5)];
    expect(named(agents)).toEqual(['agent-0 p50', 'agent-1 p50']);
  });

  it('are judged by their weight: a large one sends more, and that is right', () => {
    const agents = [
      agent(0, { rateHz: 4_000, share: 0.5 }),
      agent(1, { rateHz: 2_000 }),
      agent(2, { rateHz: 2_000 }),
    ];
    expect(named(agents)).toEqual([]);
    expect(named([agent(0, { rateHz: 4_000, share: 0.25 }), agent(1), agent(2)])).toEqual(['agent-0 rate']);
  });

  it('are none of those with too few requests to tell', () => {
    expect(named([agent(0), agent(1), agent(2, { p50Us: 90_000, ended: 199 })])).toEqual([]);
    expect(
      named([
        agent(0),
        agent(1),
        agent(2),
        agent(3, { p50Us: undefined, p99Us: undefined, rateHz: undefined }),
      ]),
    ).toEqual([]);
  });

  it(`are none of peers that differ by a few percent (seed ${FUZZ_SEED})`, () => {
    const random = new Random(FUZZ_SEED);
    for (let round = 0; round < 300; round++) {
      const near = (value: number, by: number): number => value * (1 + (random.next() - 0.5) * 2 * by);
      const agents = Array.from({ length: random.int(3, 30) }, (_, i) =>
        agent(i, { rateHz: near(1_000, 0.04), p50Us: near(1_000, 0.1), p99Us: near(9_000, 0.2) }),
      );
      expect(named(agents)).toEqual([]);
    }
  });

  it('are told in one sentence with the method', () => {
    const [latency] = outlyingAgents([agent(0), agent(1), agent(2, { p99Us: 50_000 })]);
    expect(latency && outlierSentence(latency)).toBe(
      'agent-2: p99 50.0ms, 10 times the median of 3 agents (5.00ms); modified z-score 15.5, beyond 3.5',
    );
    const [rate] = outlyingAgents([agent(0, { rateHz: 500 }), agent(1), agent(2), agent(3)]);
    expect(rate && outlierSentence(rate)).toMatch(
      /^agent-0: 57 % of the rate that its weight says \(median of 4 agents: 114 %\); modified z-score -/,
    );
  });
});
