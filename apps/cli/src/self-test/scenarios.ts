import { keepAliveLimitOf } from '@broadside/shared';
import { expectedLatency, percentileOf } from './expected-latency.js';
import { exactly, type Finding, timed } from './finding.js';
import { latencyToleranceUs, PERCENTILES, percentileFindings, type Scenario, type Seen } from './scenario.js';
import { faultCounts, type TargetScript } from './target-script.js';

const SEED = 20_051;
const NO_DELAY: TargetScript['delays'] = { seed: SEED, shares: [[1, 0]] };
/** Each of the five percentiles lies within one delay, not at the edge between two. */
const DELAYS: TargetScript['delays'] = {
  seed: SEED,
  shares: [
    [0.8, 10],
    [0.15, 20],
    [0.045, 40],
    [0.0045, 80],
    [0.0005, 160],
  ],
};

/** All scenarios: the short form takes about 10 s, the long one about a minute and a half. */
export function scenariosOf(isShort: boolean): Scenario[] {
  return [
    delayScenario(isShort ? 2 : 30),
    rateScenario(isShort ? 3 : 10),
    freezeScenario(isShort),
    faultScenario(isShort ? 2_000 : 50_000),
    keepAliveScenario(isShort ? 2_000 : 50_000),
  ];
}

/** p50 … p99.99 of known delays, at a rate that is easy for the engine and for the target. */
function delayScenario(durationS: number): Scenario {
  const name = 'delays';
  const ratePerS = 400;
  return {
    name,
    purpose: `latency percentiles at ${ratePerS}/s against delays of 10 to 160 ms that the target stamps`,
    script: { delays: DELAYS, faults: [] },
    plan: { requests: ratePerS * durationS, rate: ratePerS, connections: 40, slots: 1 },
    needsWay: true,
    judge: (seen) => percentileFindings(name, seen),
  };
}

/** The rate, by the report's clock and by the target's, with two slots that share one schedule. */
function rateScenario(durationS: number): Scenario {
  const name = 'rate';
  const ratePerS = 2_000;
  const requests = ratePerS * durationS;
  return {
    name,
    purpose: `a rate of ${ratePerS}/s from two slots`,
    script: { delays: NO_DELAY, faults: [] },
    plan: { requests, rate: ratePerS, connections: 20, slots: 2 },
    judge: ({ report, record, stalls }) => {
      const rate = {
        scenario: name,
        unit: 'per second',
        claimed: ratePerS,
        allowed: ratePerS / 1_000,
      } as const;
      // One stall at either end moves the rate, as it moves the highest percentiles.
      const sensitivity = { percentile: 99.9, stalls };
      return [
        timed({
          ...rate,
          ...sensitivity,
          what: 'rate in the report',
          measured: (report.counters.completed * 1e6) / report.timeTakenUs,
        }),
        timed({
          ...rate,
          ...sensitivity,
          what: 'rate by the target’s clock',
          measured: ((record.requests - 1) * 1e6) / record.spanUs,
        }),
        timed({
          scenario: name,
          what: 'send lag p99',
          unit: 'µs',
          claimed: 0,
          measured: report.latency.sendLag.p99Us,
          allowed: 1_000,
          percentile: 99,
          stalls,
        }),
      ];
    },
  };
}

/** A target that hangs: the corrected latency shows for how long, the median of the raw one knows nothing of it. */
function freezeScenario(isShort: boolean): Scenario {
  const name = 'freeze';
  const ratePerS = 200;
  const requests = ratePerS * (isShort ? 3 : 30);
  const connections = 20;
  // Freezes begin between two planned times less the delay, so that a timer that is a little late changes nothing.
  const freezes = isShort
    ? { firstAtMs: 803, everyMs: 1_500, lastsMs: 400 }
    : { firstAtMs: 9_003, everyMs: 10_000, lastsMs: 1_000 };
  return {
    name,
    purpose: `${freezes.lastsMs} ms of ${freezes.everyMs} ms frozen, at ${ratePerS}/s`,
    script: { delays: { seed: SEED, shares: [[1, 10]] }, freezes, faults: [] },
    plan: { requests, rate: ratePerS, connections, slots: 1 },
    needsWay: true,
    judge: (seen) => {
      const { report, record, stalls, wayUs } = seen;
      const expected = expectedLatency({
        requests,
        ratePerS,
        connections,
        delayUs: record.delays.p50Us + wayUs,
        freezes: record.freezes,
      });
      const claimed = percentileOf(expected.correctedUs, 99);
      return [
        ...percentileFindings(name, seen, [PERCENTILES[0]]).map((finding) => ({
          ...finding,
          what: 'raw p50, as without freezes',
        })),
        timed({
          scenario: name,
          what: 'corrected p99, from the schedule',
          unit: 'µs',
          claimed,
          measured: report.latency.corrected.p99Us,
          allowed: latencyToleranceUs(claimed),
          percentile: 99,
          stalls,
        }),
      ];
    },
  };
}

/** Each request of these numbers meets its fault; the rest get a proper reply. */
const FAULTS_OF_A_CYCLE: TargetScript['faults'] = [
  { fault: 'reset', every: 40, at: 7 },
  { fault: 'resetWithin', every: 40, at: 33 },
  { fault: 'close', every: 40, at: 13 },
  { fault: 'truncate', every: 40, at: 21 },
  { fault: 'garbage', every: 40, at: 29 },
  { fault: 'otherLength', every: 40, at: 17 },
  { fault: 'status', every: 10, at: 5 },
];

/** Every failure in its class, and in no other. */
function faultScenario(requests: number): Scenario {
  const name = 'failures';
  const faults: TargetScript['faults'] = [
    ...FAULTS_OF_A_CYCLE,
    { fault: 'silent', every: requests, at: 100 },
    { fault: 'silent', every: requests, at: 102 },
  ];
  return {
    name,
    purpose: 'resets, closes, cut, garbled and differing replies, errors and silence, counted one by one',
    script: { delays: NO_DELAY, faults },
    plan: { requests, connections: 8, slots: 2, timeoutMs: 2_000, probe: true, checkLength: true },
    judge: ({ report: { counters }, record }) => {
      const expected = faultCounts({ faults }, requests);
      const count = (what: string, claimed: number, measured: number): Finding =>
        exactly(name, what, claimed, measured);
      return [
        count('status 503', expected.status, counters.status),
        count('reset before the reply', expected.reset, counters.resetBeforeFirstByte),
        count('reset within the reply', expected.resetWithin, counters.resetAfterFirstByte),
        count('new connection closed without reply', record.closedNew, counters.closedWithoutReplyNew),
        count(
          'reused connection closed without reply',
          expected.close - record.closedNew,
          counters.closedWithoutReplyReused,
        ),
        count('truncated', expected.truncate, counters.truncated),
        count('length differs', expected.otherLength, counters.lengthDiffers),
        count('not HTTP', expected.garbage, counters.malformed),
        count('timed out', expected.silent, counters.timeout),
        count('connections', record.connections, counters.connectionsOpened),
      ];
    },
  };
}

/** A server that closes every connection after 50 replies and does not say so. */
function keepAliveScenario(requests: number): Scenario {
  const name = 'keep-alive';
  const keepAliveLimit = 50;
  return {
    name,
    purpose: `connections closed without a word after ${keepAliveLimit} replies`,
    script: { delays: NO_DELAY, faults: [], keepAliveLimit },
    plan: { requests, connections: 4, slots: 2 },
    judge: ({ report, record }: Seen) => [
      exactly(
        name,
        'reused connection closed without reply',
        record.faults.close,
        report.counters.closedWithoutReplyReused,
      ),
      exactly(name, 'limit recognised, in requests', keepAliveLimit, keepAliveLimitOf(report)?.requests ?? 0),
      exactly(name, 'connections', record.connections, report.counters.connectionsOpened),
    ],
  };
}
