import { describe, expect, it } from 'vitest';
import { balancedCounters, sampleReport } from '../../testing/observed.js';
import { FUZZ_SEED, Random } from '../../testing/random.js';
import type { Report } from '../report.schema.js';
import { abReport } from './ab-text.js';
import { abTimesRows } from './ab-times.js';

const repeated = (valueUs: number, count: number): number[] => Array.from({ length: count }, () => valueUs);

/** 1000 requests on 10 kept connections, 337 bytes each of which 100 are body. */
function plainRun(): Report {
  return sampleReport({
    plan: { connections: 10, requests: 1_000, probe: true, checkLength: true },
    seen: {
      counters: balancedCounters({
        completed: 1_000,
        keepAliveReplies: 1_000,
        bytesReceived: 337_000,
        bodyBytesReceived: 100_000,
        bytesSent: 90_000,
      }),
      samples: {
        connect: repeated(150, 10),
        wait: [...repeated(400, 999), 12_000],
        fresh: [...repeated(800, 9), 12_600],
        freshProcessing: [...repeated(650, 9), 12_450],
        reused: repeated(499, 990),
      },
      gauges: { firstSendUs: 100, lastEventUs: 62_345 },
    },
    input: { referenceBytes: 100 },
  });
}

/** The report with other sums, for arithmetic on them. */
function withSums(sums: {
  completed: number;
  connections: number;
  timeTakenUs: number;
  bytes: number;
}): string {
  const report = plainRun();
  return abReport({
    ...report,
    timeTakenUs: sums.timeTakenUs,
    plan: { ...report.plan, connections: sums.connections },
    counters: { ...report.counters, completed: sums.completed, bytesReceived: sums.bytes },
  });
}

function lineOf(text: string, start: string): string | undefined {
  return text.split('\n').find((line) => line.startsWith(start));
}

describe('abReport', () => {
  it('prints every line, column and unit of the classic report', () => {
    expect(abReport(plainRun())).toBe(
      [
        'Server Software:        nginx/1.22.1',
        'Server Hostname:        127.0.0.1',
        'Server Port:            8080',
        '',
        'Document Path:          /a?b=c',
        'Document Length:        100 bytes',
        '',
        'Concurrency Level:      10',
        'Time taken for tests:   0.062 seconds',
        'Complete requests:      1000',
        'Failed requests:        0',
        'Keep-Alive requests:    1000',
        'Total transferred:      337000 bytes',
        'HTML transferred:       100000 bytes',
        'Requests per second:    16039.78 [#/sec] (mean)',
        'Time per request:       0.623 [ms] (mean)',
        'Time per request:       0.062 [ms] (mean, across all concurrent requests)',
        'Transfer rate:          5278.72 [Kbytes/sec] received',
        '',
        'Connection Times (ms)',
        '              min  mean[+/-sd] median   max',
        'Connect:        0    0   0.0      0       0',
        'Processing:     0    1   0.4      0      12',
        'Waiting:        0    0   0.4      0      12',
        'Total:          0    1   0.4      0      13',
        '',
        'Percentage of the requests served within a certain time (ms)',
        '  50%      0',
        '  66%      0',
        '  75%      0',
        '  80%      0',
        '  90%      0',
        '  95%      0',
        '  98%      0',
        '  99%      1',
        ' 100%     13 (longest request)',
        '',
      ].join('\n'),
    );
  });

  it('adds up bytes and kept connections exactly', () => {
    const text = abReport(plainRun());
    expect(lineOf(text, 'Total transferred:')).toBe('Total transferred:      337000 bytes');
    expect(lineOf(text, 'HTML transferred:')).toBe('HTML transferred:       100000 bytes');
    expect(lineOf(text, 'Keep-Alive requests:')).toBe('Keep-Alive requests:    1000');
  });

  it.each([
    {
      sums: { completed: 1_000_000, connections: 1_000, timeTakenUs: 8_261_836, bytes: 385_961_786 },
      lines: [
        'Requests per second:    121038.47 [#/sec] (mean)',
        'Time per request:       8.262 [ms] (mean)',
        'Time per request:       0.008 [ms] (mean, across all concurrent requests)',
        'Transfer rate:          45621.31 [Kbytes/sec] received',
      ],
    },
    {
      sums: { completed: 1_000_000, connections: 10_000, timeTakenUs: 4_397_602, bytes: 386_000_000 },
      lines: [
        'Requests per second:    227396.66 [#/sec] (mean)',
        'Time per request:       43.976 [ms] (mean)',
        'Time per request:       0.004 [ms] (mean, across all concurrent requests)',
        'Transfer rate:          85717.88 [Kbytes/sec] received',
      ],
    },
  ])('derives rates as ab does: $lines.0', ({ sums, lines }) => {
    expect(withSums(sums)).toContain(lines.join('\n'));
  });

  it('shows the true middle of the samples as the median, rounded half up', () => {
    const medianOf = (samplesMs: readonly number[]): string | undefined => {
      const samples = samplesMs.map((ms) => ms * 1_000);
      const report = sampleReport({
        seen: {
          counters: balancedCounters({ completed: samples.length }),
          samples: { fresh: samples, freshProcessing: samples, connect: samples.map(() => 0), wait: samples },
          gauges: { firstSendUs: 0, lastEventUs: 10_000 },
        },
      });
      return lineOf(abReport(report), 'Total:');
    };
    expect(medianOf([1, 2, 3, 4])).toBe('Total:          1    3   1.3      3       4');
    expect(medianOf([1, 2, 3])).toBe('Total:          1    2   1.0      2       3');
  });

  it('counts each reused request as a connect time of zero', () => {
    const report = sampleReport({
      seen: {
        counters: balancedCounters({ completed: 4 }),
        samples: {
          connect: [8_000],
          wait: repeated(10, 4),
          fresh: [8_010],
          freshProcessing: [10],
          reused: repeated(10, 3),
        },
        gauges: { firstSendUs: 0, lastEventUs: 10_000 },
      },
    });
    expect(lineOf(abReport(report), 'Connect:')).toBe('Connect:        0    2   4.0      0       8');
  });

  it('cuts the server name at its first blank and keeps the label when there is none', () => {
    const withServer = (server: string | undefined): string =>
      abReport({ ...plainRun(), target: { addresses: [], server } });
    expect(lineOf(withServer('Odd/1.0 (Unix) x'), 'Server Software:')).toBe(
      'Server Software:        Odd/1.0',
    );
    expect(lineOf(withServer(undefined), 'Server Software:')).toBe('Server Software:        ');
    expect(lineOf(withServer('a\u001b[31mred'), 'Server Software:')).toBe('Server Software:        a');
    expect(lineOf(withServer('a\u009b31m'), 'Server Software:')).toBe('Server Software:        a?31m');
  });

  it('puts each failed request into one class, and names writes, statuses and unannounced closes apart', () => {
    const report = sampleReport({
      seen: {
        counters: balancedCounters({
          completed: 50,
          keepAliveReplies: 50,
          connectRefused: 1,
          connectTimeout: 1,
          resetBeforeFirstByte: 2,
          resetAfterFirstByte: 3,
          timeout: 4,
          truncated: 5,
          lengthDiffers: 6,
          malformed: 7,
          closedWithoutReplyNew: 8,
          closedWithoutReplyReused: 9,
          write: 10,
          non2xx: 11,
          connectionsFailed: 2,
          connectionsAsked: 3,
        }),
        samples: { reused: repeated(10, 50) },
        gauges: { firstSendUs: 0, lastEventUs: 1_000_000 },
      },
    });
    expect(abReport(report)).toContain(
      [
        'Complete requests:      104',
        'Failed requests:        56',
        '   (Connect: 2, Receive: 9, Length: 35, Exceptions: 10)',
        'Write errors:           10',
        'Non-2xx responses:      11',
        'Keep-Alive requests:    50',
        'Keep-Alive aborts:      9',
        'Total transferred:',
      ].join('\n'),
    );
  });

  it('never counts a status as failed', () => {
    const report = sampleReport({
      seen: { counters: balancedCounters({ completed: 3, status: 2, non2xx: 2 }) },
    });
    const text = abReport(report);
    expect(text).toContain(
      'Complete requests:      5\nFailed requests:        0\nNon-2xx responses:      2\n',
    );
  });

  it('prints what was sent when there is a body, even an empty one', () => {
    const text = abReport(plainRun(), { hasBody: true });
    expect(text).toContain(
      'Total transferred:      337000 bytes\nTotal body sent:        90000\nHTML transferred:       100000 bytes\n',
    );
    expect(text).toContain(
      [
        'Transfer rate:          5278.72 [Kbytes/sec] received',
        '                        1409.75 kb/s sent',
        '                        6688.46 kb/s total',
        '',
        'Connection Times (ms)',
      ].join('\n'),
    );
  });

  it('says Variable with -l, leaves out -k, percentiles with -d, and shortens with -S', () => {
    const text = abReport(plainRun(), {
      variableLength: true,
      keepAlive: false,
      noPercentiles: true,
      shortTimes: true,
    });
    expect(lineOf(text, 'Document Length:')).toBe('Document Length:        Variable');
    expect(lineOf(text, 'Keep-Alive')).toBeUndefined();
    expect(text.slice(text.indexOf('Connection Times'))).toBe(
      [
        'Connection Times (ms)',
        '              min   avg   max',
        'Connect:        0     0    0',
        'Processing:     0     1   12',
        'Waiting:        0     0   12',
        'Total:          0     1   13',
        '',
      ].join('\n'),
    );
  });

  it('ends after the byte counts when nothing was done', () => {
    const text = abReport(sampleReport());
    expect(text.endsWith('HTML transferred:       0 bytes\n')).toBe(true);
    expect(lineOf(text, 'Complete requests:')).toBe('Complete requests:      0');
  });

  it('has no percentiles after a single request', () => {
    const report = sampleReport({
      seen: {
        counters: balancedCounters({ completed: 1 }),
        samples: { fresh: [6_000], freshProcessing: [4_000], connect: [2_000], wait: [3_000] },
        gauges: { firstSendUs: 0, lastEventUs: 6_169 },
      },
    });
    const text = abReport(report);
    expect(text).toContain('Connect:        2    2   0.0      2       2\n');
    expect(text.endsWith('Total:          6    6   0.0      6       6\n')).toBe(true);
  });

  it('never warns: mean and median are never further apart than one standard deviation', () => {
    const random = new Random(FUZZ_SEED);
    for (let round = 0; round < 100; round++) {
      const samples = Array.from({ length: random.int(1, 9) }, () => random.magnitude(1_000_000));
      const report = sampleReport({ seen: { samples: { wait: samples } } });
      const row = abTimesRows(report.latency).find(({ label }) => label === 'Waiting');
      if (row === undefined) throw new Error('no row');
      // One µs for the cut mean, and the width of a histogram bucket.
      const resolutionUs = 1 + row.medianUs / 1_024;
      expect(Math.abs(row.meanUs - row.medianUs), `seed ${FUZZ_SEED}, ${samples.join()}`).toBeLessThanOrEqual(
        row.stddevUs + resolutionUs,
      );
      expect(abReport(report)).not.toMatch(/WARNING|ERROR/);
    }
  });

  it('prints large values without losing their columns', () => {
    const report = sampleReport({
      seen: {
        counters: balancedCounters({ completed: 2 }),
        samples: { reused: [123_456_000, 3_000_000_000], wait: [1, 1] },
        gauges: { firstSendUs: 0, lastEventUs: 3e9 },
      },
    });
    const total = lineOf(abReport(report), 'Total:');
    expect(total).toMatch(/^Total: {6}123456 1561728 2034023\.8 1561735 3000000$/);
  });

  it('takes host, port, path and concurrency as typed where they are given', () => {
    const text = abReport(plainRun(), { host: 'web', port: 1, path: '/x', concurrency: 7 });
    expect(lineOf(text, 'Server Hostname:')).toBe('Server Hostname:        web');
    expect(lineOf(text, 'Server Port:')).toBe('Server Port:            1');
    expect(lineOf(text, 'Document Path:')).toBe('Document Path:          /x');
    expect(lineOf(text, 'Concurrency Level:')).toBe('Concurrency Level:      7');
  });
});
