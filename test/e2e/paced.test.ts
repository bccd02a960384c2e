// Schedules, pipelines and keep-alive limits through the whole product: command, coordinator, engine, report.

import { keepAliveLimitOf } from '@broadside/shared';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NginxServer } from '../support/nginx.js';
import { ClosingTarget } from '../targets/closing-target.js';
import { fire, reportOf } from './command-line.js';

let nginx: NginxServer;
let page = '';

beforeAll(async () => {
  nginx = await NginxServer.start({ keepaliveRequests: 1_000_000 });
  page = `${nginx.url}/100.html`;
});

afterAll(() => nginx.stop());

describe('run with a rate', () => {
  it('sends exactly what was planned, each second, over several slots, without its warm-up', async () => {
    const words = ['run', '-q', '-r', '400', '-d', '3s', '--warmup', '1s', '--slots', '2', '-c', '20', page];
    const fired = await fire(words);
    const report = reportOf(fired);
    const { counters, latency, seconds, ledger } = report;
    expect([counters.planned, counters.sent, counters.completed]).toEqual([1_200, 1_200, 1_200]);
    expect(ledger).toEqual({ balanced: true, problems: [] });
    expect(seconds.map((second) => second.isWarmup === true).slice(0, 4)).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect(seconds.slice(0, 4).map((second) => second.planned)).toEqual([400, 400, 400, 400]);
    expect(report.timeTakenUs).toBeGreaterThanOrEqual(3e6);
    // Both latencies of each request, and none of the warm-up.
    expect([latency.corrected.count, latency.total.count, latency.sendLag.count]).toEqual([
      1_200, 1_200, 1_200,
    ]);
    expect(latency.corrected.meanUs).toBeGreaterThanOrEqual(latency.total.meanUs);
    expect(fired.stdout).toMatch(/^corrected +1,200 /m);
    expect(fired.stdout).toMatch(/^raw +1,200 /m);
    expect(fired.stdout).toContain('asked for 400/s: 1,200 planned, 1,200 sent (');
  });

  it('of 2 per second over 8 slots sends one each half second', async () => {
    const report = reportOf(
      await fire(['run', '-q', '-r', '2', '-d', '4s', '--slots', '8', '-c', '8', page]),
    );
    expect(report.shards).toHaveLength(8);
    expect(report.seconds.slice(0, 4).map((second) => second.planned)).toEqual([2, 2, 2, 2]);
    expect(report.counters.completed).toBe(8);
  });

  it('plans the same random arrivals for one seed on any number of slots', async () => {
    const planned = async (slots: string, seed: string): Promise<number[]> => {
      const words = [
        'run',
        '-q',
        '-r',
        '200',
        '--arrivals',
        'poisson',
        '--seed',
        seed,
        '-d',
        '2s',
        '--slots',
        slots,
      ];
      const { seconds } = reportOf(await fire([...words, page]));
      return seconds.slice(0, 2).map((second) => second.planned);
    };
    const one = await planned('1', '11');
    expect(await planned('3', '11')).toEqual(one);
    expect(await planned('1', '12')).not.toEqual(one);
  });
});

describe('a server that closes every connection after 100 replies without a word', () => {
  const target = new ClosingTarget({ everyReplies: 100, manner: 'on-next-request' });
  let url = '';

  beforeAll(async () => {
    const { port } = await target.start();
    url = `http://127.0.0.1:${port}/`;
  });

  afterAll(() => target.stop());

  it.each(['1', '10', '100'])('is recognised with %s connections', async (connections) => {
    const words = ['ab', '-q', '-k', '-r', '-n', '10000', '-c', connections, '--slots', '1', url];
    const fired = await fire(words);
    const report = reportOf(fired);
    expect(keepAliveLimitOf(report)).toMatchObject({ requests: 100, isExact: true });
    expect(fired.stderr.replace(/\s+/g, ' ')).toContain(
      'the server closes every connection after 100 requests without announcing it',
    );
    // n requests over c connections meet the limit once in 101.
    const { completed, closedWithoutReplyReused: closes } = report.counters;
    expect(completed + closes).toBe(10_000);
    expect(closes).toBeGreaterThanOrEqual(Math.floor((10_000 - 100 * Number(connections)) / 101));
    expect(closes).toBeLessThanOrEqual(99);
    expect(fired.stdout).toMatch(new RegExp(`^Keep-Alive aborts: +${closes}$`, 'm'));
  });

  it('costs nothing in the counting of ab 2.5-dev, where the request is sent again', async () => {
    const words = ['ab', '-q', '-k', '-n', '5000', '-c', '10', '--slots', '1', '--ab-counting', 'trunk', url];
    const fired = await fire(words);
    const { counters } = reportOf(fired);
    expect([counters.sent, counters.completed]).toEqual([5_000, 5_000]);
    expect(counters.retried).toBeGreaterThan(35);
    expect(fired.stdout).toMatch(/^Failed requests: +0$/m);
    expect(fired.stdout).toMatch(new RegExp(`^Keep-Alive aborts: +${counters.retried}$`, 'm'));
  });
});
