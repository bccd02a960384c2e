/**
 * Which agents stand out from their peers. All agents of a run do the same to the same target, each as much as its
 * weight says; one that sees other latencies, or another rate for its weight, has something of its own: a slow
 * machine, a bad network, a noisy neighbour.
 *
 * Robust statistics, because the one that stands out must not hide itself by moving the mean: the modified z-score
 * 0.6745 · (x − median) / MAD of Iglewicz and Hoaglin (How to Detect and Handle Outliers, 1993), with their
 * threshold of 3.5. On logarithms, because latencies are compared by ratio. The MAD (median of the absolute
 * deviations from the median) counts as no less than a floor, or of peers that agree closely the first to differ by
 * a hair would be named.
 */
import { z } from 'zod';
import { agentIdSchema } from '../plan/shard.schema.js';
import { formatCount, formatLatencyUs } from '../units.js';

export const outlierSchema = z.object({
  agentId: agentIdSchema,
  name: z.string(),
  measure: z.enum(['rate', 'p50', 'p99']),
  /** µs; of a rate: what it reached over what its weight says, 1 for exactly that. */
  value: z.number(),
  /** Median of all agents that were compared, and how many these were. */
  median: z.number(),
  agents: z.int(),
  /** Modified z-score; negative: below the median. */
  score: z.number(),
});
export type Outlier = z.infer<typeof outlierSchema>;
type Measure = Outlier['measure'];

export interface PeerFigures {
  readonly agentId: string;
  readonly name: string;
  /** Requests that ended on it. */
  readonly ended: number;
  readonly rateHz?: number | undefined;
  /** Its part of the load as it was divided, 0 … 1. */
  readonly share?: number | undefined;
  readonly p50Us?: number | undefined;
  readonly p99Us?: number | undefined;
}

/** Two values cannot say which of them is odd. */
const LEAST_AGENTS = 3;
/** Percentiles of fewer requests are chance. */
const LEAST_REQUESTS = 200;
const THRESHOLD = 3.5;
/** Makes the MAD of a normal distribution its standard deviation. */
const NORMAL = 0.6745;
/** Smallest MAD, of logarithms: nothing is named that differs from the median by less than five times this. */
const FLOORS: Readonly<Record<Measure, number>> = { rate: 0.02, p50: 0.05, p99: 0.1 };

/** In the order of rate, p50, p99; of each the farthest first. Empty for fewer than three agents. */
export function outlyingAgents(agents: readonly PeerFigures[]): Outlier[] {
  const peers = agents.filter(({ ended }) => ended >= LEAST_REQUESTS);
  const whole = peers.reduce((sum, { rateHz = 0 }) => sum + rateHz, 0);
  const shares = peers.reduce((sum, { share = 0 }) => sum + share, 0);
  const relativeRate = ({ rateHz, share = 0 }: PeerFigures): number | undefined =>
    rateHz === undefined || share <= 0 ? undefined : (rateHz / whole) * (shares / share);
  return [
    ...standingOut('rate', peers, relativeRate),
    ...standingOut('p50', peers, ({ p50Us }) => p50Us),
    ...standingOut('p99', peers, ({ p99Us }) => p99Us),
  ];
}

function standingOut(
  measure: Measure,
  peers: readonly PeerFigures[],
  valueOf: (peer: PeerFigures) => number | undefined,
): Outlier[] {
  const known = peers.flatMap((peer) => {
    const value = valueOf(peer);
    return value === undefined || !(value > 0) ? [] : [{ peer, value, log: Math.log(value) }];
  });
  if (known.length < LEAST_AGENTS) return [];
  const middle = medianOf(known.map(({ log }) => log));
  const mad = medianOf(known.map(({ log }) => Math.abs(log - middle)));
  const scaled = NORMAL / Math.max(mad, FLOORS[measure]);
  return known
    .map(({ peer: { agentId, name }, value, log }) => ({
      agentId,
      name,
      measure,
      value,
      median: Math.exp(middle),
      agents: known.length,
      score: (log - middle) * scaled,
    }))
    .filter(({ score }) => Math.abs(score) > THRESHOLD)
    .toSorted((a, b) => Math.abs(b.score) - Math.abs(a.score));
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? 0;
  const lower = sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
  return (lower + upper) / 2;
}

/** `two: p99 812ms, 5.2 times the median of 4 agents (156ms); modified z-score 12.1, above 3.5`. */
export function outlierSentence({ name, measure, value, median, agents, score }: Outlier): string {
  const compared = `modified z-score ${score.toFixed(1)}, beyond ${THRESHOLD}`;
  if (measure === 'rate') {
    const percent = `${Math.round(value * 100)} % of the rate that its weight says`;
    return `${name}: ${percent} (median of ${formatCount(agents)} agents: ${Math.round(median * 100)} %); ${compared}`;
  }
  const ratio = (value / median).toPrecision(2);
  const of = `${ratio} times the median of ${formatCount(agents)} agents (${formatLatencyUs(median)})`;
  return `${name}: ${measure} ${formatLatencyUs(value)}, ${of}; ${compared}`;
}
