import { describe, expect, it } from 'vitest';
import { parseAbReport, shapeOf } from './ab-shape.js';

// Written by hand after the format's description; the numbers are made up and do not belong together.
const full = `This is ApacheBench, Version 2.3 <$Revision: 42 $>
Copyright 1996 Adam Twiss, Zeus Technology Ltd, http://www.zeustech.net/
Licensed to The Apache Software Foundation, http://www.apache.org/

Benchmarking gun.example (be patient)


Server Software:        Odd/1.0
Server Hostname:        gun.example
Server Port:            8080

Document Path:          /deck?n=1 2
Document Length:        100 bytes

Concurrency Level:      7
Time taken for tests:   1.250 seconds
Complete requests:      1000
Failed requests:        6
   (Connect: 1, Receive: 2, Length: 3, Exceptions: 0)
Write errors:           4
Non-2xx responses:      5
Keep-Alive requests:    900
Total transferred:      240000 bytes
Total body sent:        99
HTML transferred:       100000 bytes
Requests per second:    800.00 [#/sec] (mean)
Time per request:       8.750 [ms] (mean)
Time per request:       1.250 [ms] (mean, across all concurrent requests)
Transfer rate:          187.50 [Kbytes/sec] received
                        0.08 kb/s sent
                        187.58 kb/s total

Connection Times (ms)
              min  mean[+/-sd] median   max
Connect:        0    0   0.3      0      12
Processing:    29   43 109.7     42  162000
Waiting:        1 12345   9.7     42     162
Total:         29   43   9.7     42 12345678
ERROR: The median and mean for the initial connection time are more than twice the standard
       deviation apart. These results are NOT reliable.
WARNING: The median and mean for the waiting time are not within a normal deviation
        These results are probably not that reliable.

Percentage of the requests served within a certain time (ms)
  50%     42
  66%     43
  75%     44
  80%     45
  90%     46
  95%     47
  98%     48
  99%     49
 100%    162 (longest request)
`;

describe('parseAbReport', () => {
  it('reads every value of a report that has every line', () => {
    const report = parseAbReport(full);
    expect(report).toMatchObject({
      serverSoftware: 'Odd/1.0',
      hostname: 'gun.example',
      port: 8080,
      documentPath: '/deck?n=1 2',
      documentLengthBytes: 100,
      concurrency: 7,
      timeTakenS: 1.25,
      completeRequests: 1000,
      failedRequests: 6,
      failedBy: { connect: 1, receive: 2, length: 3, exceptions: 0 },
      writeErrors: 4,
      non2xxResponses: 5,
      keepAliveRequests: 900,
      totalTransferredBytes: 240000,
      totalBodySentBytes: 99,
      htmlTransferredBytes: 100000,
      requestsPerSecond: 800,
      timePerRequestMs: 8.75,
      timePerRequestAcrossMs: 1.25,
      transferRateKbytesPerS: 187.5,
      sentRateKbytesPerS: 0.08,
      totalRateKbytesPerS: 187.58,
      warnings: ['the initial connection time', 'the waiting time'],
    });
    expect(report.times?.processing).toEqual({ min: 29, mean: 43, sd: 109.7, median: 42, max: 162000 });
    expect(report.times?.total.max).toBe(12345678);
    expect([...(report.percentiles ?? [])].slice(-2)).toEqual([
      [99, 49],
      [100, 162],
    ]);
  });

  it('reads the shortest report: nothing completed, nothing measured', () => {
    const text = full
      .replace(/Requests per second:[\s\S]*/, '')
      .replace(/Write errors:.*\nNon-2xx.*\nKeep-Alive.*\n/, '')
      .replace(/Total body sent.*\n/, '')
      .replace(/100 bytes/, 'Variable');
    const report = parseAbReport(text);
    expect(report.documentLengthBytes).toBe('Variable');
    expect(report).toMatchObject({ times: undefined, percentiles: undefined, keepAliveRequests: undefined });
  });

  it('reads an empty server name, whose label still ends in blanks', () => {
    expect(parseAbReport(full.replace('Odd/1.0', '')).serverSoftware).toBe('');
  });

  const wrong: ReadonlyArray<readonly [what: string, from: string | RegExp, to: string]> = [
    ['a renamed label', 'Complete requests: ', 'Completed requests:'],
    ['a label one column short', 'Complete requests:      1', 'Complete requests:     1'],
    ['a missing unit', '240000 bytes', '240000'],
    ['a wrong number of decimals', '1.250 seconds', '1.25 seconds'],
    ['a number where none belongs', '1000\nFailed', '1e3\nFailed'],
    ['a row that is not aligned', 'Connect:        0    0', 'Connect:         0    0'],
    ['a pushed column with a blank too many', 'Waiting:        1 12345 ', 'Waiting:        1  12345 '],
    ['rows in another order', /(Processing:.*\n)(Waiting:.*\n)/, '$2$1'],
    ['a missing row', /Waiting:.*\n/, ''],
    ['a missing percentile', /  80%.*\n/, ''],
    ['half a warning', /       deviation apart.*\n/, ''],
    ['a missing blank line', '\n\nConcurrency', '\nConcurrency'],
    ['no document length', /Document Length.*\n/, ''],
    ['text after the end', /$/, '\n'],
    ['a missing newline at the end', /\n$/, ''],
    ['a trailing blank', '900\n', '900 \n'],
  ];
  it.each(wrong)('refuses %s', (_what, from, to) => {
    const text = full.replace(from, to);
    expect(text).not.toBe(full);
    expect(() => parseAbReport(text)).toThrow('ab report');
  });

  it('names the line that it could not read and what would fit there', () => {
    const text = full.replace('Complete requests: ', 'Completed requests:');
    expect(() => parseAbReport(text)).toThrow(/line 17: "Completed requests:.*Complete requests: {6}\{int\}/);
  });

  it('notices every single blank that is taken away from the part below the target', () => {
    const start = full.indexOf('Concurrency Level');
    for (let index = start; index < full.length; index++) {
      if (full[index] !== ' ') continue;
      const text = full.slice(0, index) + full.slice(index + 1);
      expect(() => parseAbReport(text), `blank at ${index} taken away`).toThrow('ab report');
    }
  });
});

describe('shapeOf', () => {
  it('is the same for other values, wider ones included, and keeps labels, columns and units', () => {
    const other = full
      .replace(
        'Connect:        0    0   0.3      0      12',
        'Connect:    1234567 1234567 12345.6 1234567 1234567890',
      )
      .replace('1.250 seconds', '98765.432 seconds')
      .replace('gun.example\nServer Port', 'other.example\nServer Port');
    expect(shapeOf(other)).toEqual(shapeOf(full));
    expect(shapeOf(full)).toContain('Time per request:       {fixed3} [ms] (mean)');
    expect(shapeOf(full)).toContain('Total:      {intw5} {intw4} {fixed1w5} {intw6} {intw7}');
  });

  it('leaves warnings out unless asked, because they hang on what was measured', () => {
    const without = full.replace(/ERROR[\s\S]*probably not that reliable\.\n/, '');
    expect(shapeOf(without)).toEqual(shapeOf(full));
    expect(shapeOf(without, { withWarnings: true })).not.toEqual(shapeOf(full, { withWarnings: true }));
  });

  it('differs when a line is missing', () => {
    expect(shapeOf(full.replace(/Keep-Alive.*\n/, ''))).not.toEqual(shapeOf(full));
  });
});
