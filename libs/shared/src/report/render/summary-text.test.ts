import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../limits.js';
import { countersToRecord } from '../../metrics/counters.js';
import { balancedCounters, observed, sampleAgent, sampleReport } from '../../testing/observed.js';
import type { Latency, Report } from '../report.schema.js';
import { abNotes } from './ab-notes.js';
import { reportJson } from './json.js';
import { summaryText } from './summary-text.js';

const counters = (completed: number, timeout: number) =>
  countersToRecord(observed({ counters: { completed, timeout } }).counters);

function fullRun(): Report {
  return sampleReport({
    plan: { requests: 2_000, name: 'first try' },
    seen: {
      counters: balancedCounters({
        completed: 1_963,
        timeout: 30,
        closedWithoutReplyReused: 7,
        bytesReceived: 662_000,
        bodyBytesReceived: 196_300,
        bytesSent: 180_000,
        connectionsAsked: 17,
        connectionsOpened: 17,
        connectionsClosedByUs: 10,
        connectionsClosedUnannounced: 7,
      }),
      statusCounts: [
        [200, 1_960],
        [503, 3],
      ],
      samples: {
        connect: [100, 120],
        wait: Array.from({ length: 1_963 }, (_, i) => 400 + i),
        fresh: [900, 2_000],
        freshProcessing: [800, 1_880],
        reused: Array.from({ length: 1_961 }, (_, i) => 410 + i),
      },
      gauges: { firstSendUs: 0, lastEventUs: 8_261_836 },
    },
    input: {
      warnings: ['a1: the CPU governor is "powersave"'],
      agents: [sampleAgent('a1'), sampleAgent('a2')],
      shards: [
        { shardIndex: 0, attempt: 1, agentId: 'a1', connections: 6, counters: counters(1_200, 30) },
        { shardIndex: 1, attempt: 1, agentId: 'a2', connections: 4, counters: counters(763, 7) },
      ],
      seconds: [
        {
          second: 0,
          planned: 2_000,
          sent: 2_000,
          completed: 1_963,
          failed: 37,
          inFlight: 0,
          openConnections: 10,
          bytesReceived: 1,
          busyShareMax: 0.2,
        },
      ],
    },
  });
}

/** Everything in a table is as wide as it gets. */
function widestRun(): Report {
  const longestUs = LIMITS.maxTimeoutMs * 1_000;
  const samples = Array.from({ length: 1_000 }, () => longestUs);
  const agents = ['one', 'two', 'three'].map((name) => ({
    ...sampleAgent(name),
    name: name.padEnd(60, 'x'),
  }));
  const shards = agents.map(({ agentId }, i) => ({
    shardIndex: i,
    attempt: 1,
    agentId,
    connections: 5,
    counters: counters(1e9, 1e9),
    startSkewUs: -longestUs,
    stopSkewUs: -longestUs,
  }));
  const figures = new Map(
    agents.map(({ agentId }) => [
      agentId,
      { rateHz: LIMITS.maxRate, plannedShare: 1, p50Us: longestUs, p99Us: longestUs },
    ]),
  );
  const report = sampleReport({
    plan: { connections: LIMITS.maxConnections, rate: LIMITS.maxRate },
    seen: {
      counters: balancedCounters({ completed: 1_000 }),
      samples: {
        fresh: samples,
        reused: samples,
        wait: samples,
        corrected: samples,
        sendLag: samples,
      },
      gauges: { firstSendUs: 0, lastEventUs: longestUs },
    },
    input: { agents, shards, figures },
  });
  const withCount = (latency: Latency): Latency => ({ ...latency, count: latency.count * 1e12 });
  const latency = { ...report.latency };
  for (const name of Object.keys(latency) as (keyof typeof latency)[])
    latency[name] = withCount(latency[name]);
  return { ...report, latency, agents: report.agents.map((agent) => ({ ...agent, busyShare: 1 })) };
}

describe('summaryText', () => {
  it('tells the run at a glance', () => {
    expect(summaryText(fullRun())).toBe(
      [
        'GET http://127.0.0.1:8080/a?b=c (first try)',
        '10 connections, 2 slots on 2 agents',
        '',
        '238 requests/s   1,963 completed in 8.26s',
        '',
        '         count     p50     p90     p99   p99.9     max',
        'total    1,963  1.39ms  2.17ms  2.35ms  2.37ms  2.37ms',
        'fresh        2   900µs  2.00ms  2.00ms  2.00ms  2.00ms',
        'reused   1,961  1.39ms  2.17ms  2.35ms  2.37ms  2.37ms',
        'wait     1,963  1.38ms  2.17ms  2.34ms  2.36ms  2.36ms',
        'connect      2   100µs   120µs   120µs   120µs   120µs',
        '',
        'Failed       37 of 2,000 sent (1.9 %)',
        '             30 timed out',
        '              7 reused connection closed without reply',
        'Status       200: 1,960, 503: 3',
        'Connections  17 opened, 7 closed by the target unannounced',
        'Transfer     received 646KiB (78.2KiB/s), of which body 192KiB; sent 176KiB',
        'Agents       a1: 1,230 requests (61.5 %), 1 shard',
        '             a2: 770 requests (38.5 %), 1 shard',
        'Clocks       coordinator minus agent: a1 +0µs ± 10µs, a2 +0µs ± 10µs',
        'Machines     a1, a2: test, 2 CPUs, 954MiB RAM, Linux, Node v20.20.2',
        'Warnings     a1: the CPU governor is "powersave"',
        'Books        balance: 2,000 planned = 1,963 completed + 37 failed',
        'Verdict      pass; limit: undecided',
        '             the server closed 7 reused connections without announcing it (118',
        '               requests per connection on average); each met a request that was',
        '               already sent and got no reply',
        '             the median wait of 1.38ms is 3.5 times the shortest, an engine',
        '               thread needed a CPU for 20 % of the time: no clear sign of a',
        '               queue',
        '',
      ].join('\n'),
    );
  });

  it('marks a number that cannot be trusted right below it', () => {
    const report = fullRun();
    const generator = summaryText({ ...report, verdict: { ...report.verdict, limit: 'generator' } });
    expect(generator).toContain('in 8.26s\n! the generator was the limit: the target may be faster');
    const unbalanced = summaryText(sampleReport({ input: { problems: ['shard 0: interval 2 is missing'] } }));
    expect(unbalanced).toContain('\n! the books do not balance: do not rely on these numbers\n');
    expect(unbalanced).toContain('Books        do not balance: shard 0: interval 2 is missing');
    expect(unbalanced).toContain('Verdict      inconclusive');
  });

  it('says none where nothing failed, and has no table where nothing was timed', () => {
    const text = summaryText(sampleReport());
    expect(text).toContain('Failed       none\n');
    expect(text).not.toContain('p99');
    expect(text).not.toContain('Status');
    expect(text).toContain('0 requests/s   0 completed in 0ms');
  });

  it('is short where no reply came: what was wrong, and no machine, rate or limit', () => {
    const seen = {
      counters: balancedCounters({
        connectRefused: 100,
        connectionsAsked: 100,
        connectionsOpened: 0,
        connectionsClosedByUs: 0,
        connectionsFailed: 100,
      }),
    };
    const text = summaryText(sampleReport({ seen }));
    expect(text).toMatch(
      /\n\nNo reply came, so there is nothing to measure\.\n\nFailed {7}100 of 100 sent \(100 %\)\n/,
    );
    expect(text).not.toMatch(/requests\/s|limit|Machines|Transfer|Agents|Books|Advice/);
    expect(text.split('\n').length).toBeLessThan(14);
  });

  it('breaks its sentences at the width that is asked for, and not at all without one', () => {
    const report = { ...fullRun(), warnings: [`a1: ${'word '.repeat(60)}`] };
    const widest = (width?: number): number =>
      Math.max(
        ...summaryText(report, width)
          .split('\n')
          .filter((line) => line.includes('word'))
          .map((line) => line.length),
      );
    expect(widest(40)).toBeLessThanOrEqual(40);
    expect(widest()).toBeGreaterThan(60);
    expect(widest(200)).toBeGreaterThan(150);
    expect(widest(Number.POSITIVE_INFINITY)).toBeGreaterThan(300);
  });

  it('stays within 80 columns and prints no control characters, whatever the names are', () => {
    const report = sampleReport({
      plan: { target: `http://127.0.0.1/${'long/'.repeat(100)}`, name: 'x'.repeat(200) },
      input: {
        agents: [{ ...sampleAgent('a1'), name: `\u001b[31m${'agent '.repeat(40)}\r\n` }],
        run: { ...sampleReport().run, state: 'failed', reason: `\u001b]0;title\u0007${'y'.repeat(300)}` },
        problems: [`shard 0: ${'z'.repeat(90)}`],
      },
    });
    const lines = summaryText(report).split('\n');
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
    // oxlint-disable-next-line no-control-regex -- control characters are what must not be there
    expect(lines.join('')).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
  });

  it.each([40, 60, 80, 120])(
    'fits into %i columns with the longest names and numbers, tables too',
    (width) => {
      const report = widestRun();
      for (const text of [summaryText(report, width), abNotes(report, 'once', width)]) {
        for (const line of text.split('\n')) expect(line.length, line).toBeLessThanOrEqual(width);
      }
      const text = summaryText(report, width);
      for (const word of ['p99.9', 'max', 'requests/s', 'busy', '100 %', 'corrected', 'send lag'])
        expect(text).toContain(word);
    },
  );

  it('leaves tables whole where there is room, or no width', () => {
    const widest = summaryText(widestRun(), Number.POSITIVE_INFINITY).split('\n');
    expect(widest.filter((line) => /^ +count +p50 +p90 +p99 +p99\.9 +max$/.test(line))).toHaveLength(1);
    expect(widest.filter((line) => /^ +requests\/s .* busy$/.test(line))).toHaveLength(1);
  });

  it('puts agents side by side, and names one that stands out', () => {
    const agents = ['one', 'two', 'three', 'a name that is long'].map((name, i) => ({
      ...sampleAgent(`a${i}`),
      name,
      clockOffsetUs: -1_500 * i,
    }));
    const shards = agents.map(({ agentId }, i) => ({
      shardIndex: i,
      attempt: 1,
      agentId,
      connections: 5,
      counters: counters(2_000, i),
      startSkewUs: 120 * i - 40,
      stopSkewUs: 30,
    }));
    const figures = new Map(
      agents.map(({ agentId }, i) => [
        agentId,
        { rateHz: 2_000, plannedShare: 0.25, p50Us: 1_000, p99Us: i === 2 ? 90_000 : 4_000 },
      ]),
    );
    const text = summaryText(sampleReport({ input: { agents, shards, figures } }));
    expect(text).toContain(
      [
        '',
        '                requests/s   share     p50     p99  failed   start   stop  busy',
        'one                  2,000  25.0 %  1.00ms  4.00ms       0   −40µs  +30µs',
        'two                  2,000  25.0 %  1.00ms  4.00ms       1   +80µs  +30µs',
        'three                2,000  25.0 %  1.00ms  90.0ms       2  +200µs  +30µs',
        'a name that i…       2,000  25.0 %  1.00ms  4.00ms       3  +320µs  +30µs',
        '',
      ].join('\n'),
    );
    expect(text).toContain('Outliers     three: p99 90.0ms, 23 times the median of 4 agents (4.00ms)');
    expect(text).toContain('Clocks       coordinator minus agent: one +0µs ± 10µs, two −1.50ms ± 10µs,');
  });

  it('names a lost agent', () => {
    const report = sampleReport({ input: { agents: [{ ...sampleAgent('a1'), lost: true }] } });
    expect(summaryText(report)).toContain('a1: 0 requests (0 %), 1 shard, lost');
  });
});

describe('reportJson', () => {
  it('is the document, with rows of numbers on one line each', () => {
    const report = fullRun();
    const text = reportJson(report);
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(report)));
    expect(text.endsWith('}\n')).toBe(true);
    expect(text.includes('        [900, 1]')).toBe(true);
    expect(text.split('\n').length).toBeLessThan(JSON.stringify(report, null, 2).split('\n').length / 2);
  });

  it('gives equal bytes for equal reports', () => {
    expect(reportJson(fullRun())).toBe(reportJson(fullRun()));
  });

  it('leaves texts that look like rows of numbers alone', () => {
    const report = sampleReport({ plan: { name: '[ 1, 2 ]' } });
    expect(JSON.parse(reportJson(report))).toMatchObject({ plan: { name: '[ 1, 2 ]' } });
  });
});
