/** Long because it holds one test for each way in which a run can go. */
import { COUNTER, gaugeOf, LIMITS } from '@broadside/shared';
import { afterEach, describe, expect, it } from 'vitest';
import { monotonicClock } from './clock.js';
import { runShard } from './engine.js';
import { ShardControl } from './shard-control.js';
import { type Behaviour, RawTarget, reply } from './testing/raw-target.js';
import { runShardAgainst, shardFor } from './testing/run-shard-against.js';

const targets: RawTarget[] = [];

async function listen(behaviour: Behaviour, host?: string): Promise<RawTarget> {
  const target = await RawTarget.listen(behaviour, host);
  targets.push(target);
  return target;
}

afterEach(async () => {
  await Promise.all(targets.splice(0).map((target) => target.close()));
});

const answer: Behaviour = (socket) => void socket.write(reply(100));
const silence: Behaviour = () => undefined;

/** A port that nobody listens on. */
async function closedPort(): Promise<number> {
  const target = await RawTarget.listen(silence);
  const { port } = target;
  await target.close();
  return port;
}

describe('budget', () => {
  it('sends exactly n requests over c connections, for n = 1 … 50 and c = 1 … 7', async () => {
    for (let connections = 1; connections <= 7; connections++) {
      for (let requests = connections; requests <= 50; requests += connections === 1 ? 1 : 3) {
        const target = await listen(answer);
        const run = await runShardAgainst(shardFor(target.port, { requests, connections }));
        expect([run.count('completed'), run.count('planned'), target.requests]).toEqual([
          requests,
          requests,
          requests,
        ]);
        expect(target.connections).toBe(connections);
        expect(target.mostOpen).toBeLessThanOrEqual(connections);
        expect(run.count('connectionsOpened')).toBe(connections);
        await target.close();
      }
    }
  });

  it('counts bytes, statuses, latencies and kept connections of a plain run', async () => {
    const target = await listen(answer);
    const shard = shardFor(target.port, { requests: 200, connections: 4 });
    const run = await runShardAgainst(shard);
    const request = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
    expect(target.received).toBe(request.repeat(200));
    expect(run.count('bytesSent')).toBe(200 * request.length);
    expect(run.count('bytesReceived')).toBe(200 * reply(100).length);
    expect(run.count('bodyBytesReceived')).toBe(200 * 100);
    expect(run.count('keepAliveReplies')).toBe(200);
    expect(run.count('connectionsClosedByUs')).toBe(4);
    expect([...run.end.totals.statusCounts]).toEqual([[200, 200]]);
    const counts = (['connect', 'fresh', 'freshProcessing', 'reused', 'wait'] as const).map(
      (n) => run.histogram(n).total,
    );
    expect(counts).toEqual([4, 4, 4, 196, 200]);
    expect(run.histogram('fresh').minUs).toBeGreaterThanOrEqual(run.histogram('freshProcessing').minUs);
    expect(run.failures).toEqual({});
    expect(run.end).toMatchObject({
      address: '127.0.0.1',
      addresses: ['127.0.0.1'],
      transport: 'socket',
      server: '',
    });
  });

  it('opens a connection for each request without keep-alive and lets the target close it', async () => {
    const target = await listen((socket) => void socket.end(reply(10, { lines: ['Connection: close'] })));
    const request = { httpVersion: '1.0' } as const;
    const run = await runShardAgainst(
      shardFor(target.port, { requests: 30, connections: 3, keepAlive: false, request }),
    );
    expect([run.count('completed'), target.connections, run.count('keepAliveReplies')]).toEqual([30, 30, 0]);
    expect(run.count('connectionsClosedAnnounced')).toBeGreaterThanOrEqual(27);
    expect(run.count('bytesReceived')).toBe(30 * reply(10, { lines: ['Connection: close'] }).length);
    expect([run.histogram('fresh').total, run.histogram('reused').total]).toEqual([30, 0]);
  });

  it('closes a connection itself when the target announces a close and does not carry it out', async () => {
    const target = await listen((socket) => void socket.write(reply(10, { lines: ['Connection: close'] })));
    const run = await runShardAgainst(shardFor(target.port, { requests: 4, connections: 2 }));
    expect([run.count('completed'), run.count('connectionsClosedByUs'), target.connections]).toEqual([
      4, 4, 4,
    ]);
    // The last two are closed with the end of the load, which waits for nobody.
    expect(run.count('connectionsLeftToUs')).toBe(2);
  });

  it('closes a connection at once when keep-alive is not wanted and the target would keep it', async () => {
    const target = await listen(answer);
    const startedUs = monotonicClock.nowUs();
    const run = await runShardAgainst(shardFor(target.port, { requests: 20, keepAlive: false }));
    expect([run.count('completed'), run.count('connectionsClosedByUs'), target.connections]).toEqual([
      20, 20, 20,
    ]);
    expect(monotonicClock.nowUs() - startedUs).toBeLessThan(1_500_000);
  });

  it('reads a body that the end of the connection ends', async () => {
    const target = await listen(
      (socket) => void socket.end('HTTP/1.0 200 OK\r\nServer: tiny 1\r\n\r\nhello'),
    );
    const run = await runShardAgainst(shardFor(target.port, { requests: 6, connections: 2 }));
    expect([run.count('completed'), run.count('bodyBytesReceived')]).toEqual([6, 30]);
    expect([run.count('connectionsClosedAnnounced'), run.count('keepAliveReplies')]).toEqual([6, 0]);
    expect(run.end.server).toBe('tiny');
  });

  it('sends HEAD and does not wait for a body', async () => {
    const target = await listen(
      (socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n'),
    );
    const run = await runShardAgainst(shardFor(target.port, { requests: 5, request: { method: 'HEAD' } }));
    expect([run.count('completed'), run.count('bodyBytesReceived'), run.count('keepAliveReplies')]).toEqual([
      5, 0, 5,
    ]);
  });

  it('works over IPv6', async () => {
    const target = await listen(answer, '::1');
    const run = await runShardAgainst(shardFor(target.port, { requests: 5, target: { host: '::1' } }));
    expect([run.count('completed'), run.end.address]).toEqual([5, '::1']);
  });
});

describe('time', () => {
  it('stops at the end of its duration, closes one interval per second and counts nothing as unsent', async () => {
    const target = await listen(answer);
    const run = await runShardAgainst(shardFor(target.port, { durationMs: 1_300, connections: 3 }));
    // 1.3 s and at most one of grace; the harness checks numbers and the mark of the last one.
    expect(run.intervals.length).toBeGreaterThanOrEqual(2);
    expect(run.count('completed')).toBeGreaterThan(100);
    expect(run.count('completed')).toBe(target.requests);
    expect([run.count('notSentTimeOver'), run.count('inFlightAtEnd')]).toEqual([0, 0]);
    const last = gaugeOf(run.end.totals, 'lastEventUs');
    expect(last).toBeGreaterThan(1_290_000);
    expect(last).toBeLessThan(2_500_000);
    expect(gaugeOf(run.end.totals, 'busyShare')).toBeGreaterThan(0);
    expect(gaugeOf(run.end.totals, 'cpuUs')).toBeGreaterThan(0);
    expect(gaugeOf(run.intervals[0] ?? run.end.totals, 'inFlight')).toBe(3);
    expect(gaugeOf(run.intervals[0] ?? run.end.totals, 'openConnections')).toBe(3);
    const ending = run.intervals.at(-1) ?? run.end.totals;
    const open = (['openConnections', 'openConnectionsMax'] as const).map((name) => gaugeOf(ending, name));
    // All are closed when the last interval ends, and were open in it.
    expect(open).toEqual([0, 3]);
  });

  it('says how much of a request budget the duration did not allow', async () => {
    const target = await listen((socket) => void setTimeout(() => socket.write(reply(1)), 50));
    const run = await runShardAgainst(
      shardFor(target.port, { durationMs: 300, requests: 1_000, connections: 2 }),
    );
    expect(run.count('planned')).toBe(1_000);
    expect(run.count('notSentTimeOver')).toBe(1_000 - run.count('sent'));
    expect(run.count('completed')).toBe(run.count('sent'));
  });

  it('closes empty intervals too, and counts what never came as in flight at the end', async () => {
    const target = await listen(silence);
    const run = await runShardAgainst(
      shardFor(target.port, { durationMs: 1_100, connections: 2, timeoutMs: 60_000 }),
    );
    expect(run.intervals.length).toBeGreaterThanOrEqual(3);
    expect(run.intervals[1]?.counters.every((value) => value === 0)).toBe(true);
    expect([run.count('sent'), run.count('inFlightAtEnd'), run.count('completed')]).toEqual([2, 2, 0]);
  });

  it('does not send before its start instant', async () => {
    const target = await listen(answer);
    const control = new ShardControl();
    const startAtUs = monotonicClock.nowUs() + 200_000;
    let firstUs = 0;
    const run = runShard({
      shard: shardFor(target.port, { requests: 3 }),
      control,
      refusalOf: () => undefined,
      sink: {
        onReady: () => control.start(startAtUs),
        onRefused: () => undefined,
        onProbed: () => undefined,
        onInterval: (interval) => (firstUs = gaugeOf(interval, 'firstSendUs')),
        onEnded: (end) => expect(end.startSkewUs).toBeGreaterThanOrEqual(0),
      },
    });
    await run.ended;
    expect(monotonicClock.nowUs()).toBeGreaterThan(startAtUs);
    expect(firstUs).toBeGreaterThanOrEqual(0);
    expect(firstUs).toBeLessThan(1_000_000);
  });
});

describe('failures: each request falls into one class', () => {
  /** Runs ten requests on one connection at a time against a target that misbehaves. */
  async function failuresOf(
    behaviour: Behaviour,
    overrides: Parameters<typeof shardFor>[1] = {},
  ): Promise<object> {
    const target = await listen(behaviour);
    const run = await runShardAgainst(shardFor(target.port, { requests: 10, connections: 2, ...overrides }));
    expect(run.end.fatal).toBeUndefined();
    return { completed: run.count('completed'), ...run.failures };
  }

  it('resetBeforeFirstByte', async () => {
    expect(await failuresOf((socket) => void socket.resetAndDestroy())).toEqual({
      completed: 0,
      resetBeforeFirstByte: 10,
    });
  });

  it('resetAfterFirstByte', async () => {
    const behaviour: Behaviour = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n', () => setTimeout(() => socket.resetAndDestroy(), 20));
    };
    expect(await failuresOf(behaviour)).toEqual({ completed: 0, resetAfterFirstByte: 10 });
  });

  it('closedWithoutReplyNew', async () => {
    expect(await failuresOf((socket) => void socket.end())).toEqual({
      completed: 0,
      closedWithoutReplyNew: 10,
    });
  });

  it('closedWithoutReplyReused', async () => {
    const behaviour: Behaviour = (socket, n) => void (n < 4 ? socket.write(reply(5)) : socket.end());
    expect(await failuresOf(behaviour, { connections: 1 })).toEqual({
      completed: 8,
      closedWithoutReplyReused: 2,
    });
  });

  it('truncated', async () => {
    const behaviour: Behaviour = (socket) =>
      void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort');
    expect(await failuresOf(behaviour)).toEqual({ completed: 0, truncated: 10 });
  });

  it('malformed', async () => {
    expect(await failuresOf((socket) => void socket.write('SSH-2.0-OpenSSH\r\n'))).toEqual({
      completed: 0,
      malformed: 10,
    });
  });

  it('tooLarge', async () => {
    const behaviour: Behaviour = (socket) =>
      void socket.write(`HTTP/1.1 200 OK\r\nX: ${'y'.repeat(1_000_000)}\r\n\r\n`);
    expect(await failuresOf(behaviour)).toEqual({ completed: 0, tooLarge: 10 });
    const large: Behaviour = (socket) => void socket.write(reply(5_000));
    expect(await failuresOf(large, { maxReplyBodyBytes: 4_999 })).toEqual({ completed: 0, tooLarge: 10 });
  });

  it('timeout', async () => {
    const startedUs = monotonicClock.nowUs();
    expect(await failuresOf(silence, { timeoutMs: 100 })).toEqual({ completed: 0, timeout: 10 });
    const elapsedUs = monotonicClock.nowUs() - startedUs;
    expect(elapsedUs).toBeGreaterThan(490_000);
    expect(elapsedUs).toBeLessThan(2_500_000);
  });

  it('timeout also for a reply that drips', async () => {
    const behaviour: Behaviour = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n');
      const drip = setInterval(() => socket.write('x'), 20);
      socket.on('close', () => clearInterval(drip));
    };
    expect(await failuresOf(behaviour, { requests: 4, timeoutMs: 150 })).toEqual({
      completed: 0,
      timeout: 4,
    });
  });

  it('lengthDiffers from the reference, only where lengths are checked', async () => {
    const behaviour: Behaviour = (socket, n) => void socket.write(reply(n === 3 ? 99 : 100));
    const probe = { probe: true, connections: 1 };
    expect(await failuresOf(behaviour, { ...probe, checkLength: true })).toEqual({
      completed: 9,
      lengthDiffers: 1,
    });
    expect(await failuresOf(behaviour, { ...probe, checkLength: false })).toEqual({ completed: 10 });
  });

  it('status, only where the plan counts it', async () => {
    const behaviour: Behaviour = (socket, n) => void socket.write(reply(5, { status: n === 2 ? 500 : 201 }));
    const target = await listen(behaviour);
    const strict = await runShardAgainst(shardFor(target.port, { requests: 5 }));
    expect([strict.failures, strict.count('non2xx'), strict.count('keepAliveReplies')]).toEqual([
      { status: 1 },
      1,
      5,
    ]);
    const lax = await runShardAgainst(shardFor(target.port, { requests: 5, failOnStatus: false }));
    expect([lax.failures, lax.count('completed'), lax.count('non2xx')]).toEqual([{}, 5, 1]);
    expect([...lax.end.totals.statusCounts].sort(([a], [b]) => a - b)).toEqual([
      [201, 4],
      [500, 1],
    ]);
  });

  it('takes surplus bytes after a reply as a reason to drop the connection, not as a reply', async () => {
    const target = await listen((socket) => void socket.write(`${reply(5)}${reply(7)}`));
    const run = await runShardAgainst(shardFor(target.port, { requests: 4 }));
    expect([run.count('completed'), run.count('bodyBytesReceived'), target.connections]).toEqual([4, 20, 4]);
    expect([run.count('keepAliveReplies'), run.count('connectionsClosedByUs')]).toEqual([0, 4]);
    expect(run.count('repliesWithSurplus')).toBe(4);
  });

  it('tells announced closes of kept connections from unannounced ones', async () => {
    const announced: Behaviour = (socket, n) =>
      void (n < 4 ? socket.write(reply(1)) : socket.end(reply(1, { lines: ['Connection: close'] })));
    const target = await listen(announced);
    const run = await runShardAgainst(shardFor(target.port, { requests: 23 }));
    expect([run.count('completed'), run.count('keepAliveReplies')]).toEqual([23, 19]);
    expect(run.count('connectionsClosedAnnounced')).toBe(4);
    const silent: Behaviour = (socket, n) => void (n < 4 ? socket.write(reply(1)) : socket.end(reply(1)));
    const other = await listen(silent);
    const second = await runShardAgainst(shardFor(other.port, { requests: 23 }));
    expect(second.failures).toEqual({ closedWithoutReplyReused: 3 });
    expect(second.count('connectionsClosedUnannounced')).toBe(3);
  });
});

describe('targets that cannot be connected to', () => {
  it('ends with a fatal error when the target never accepted a connection', async () => {
    const shard = shardFor(await closedPort(), { requests: 1_000, connections: 3 });
    const run = await runShardAgainst(shard);
    expect(run.end.fatal).toMatchObject({ failureClass: 'connectRefused', code: 'ECONNREFUSED', errno: 111 });
    expect(run.end.fatal?.message).toContain(`127.0.0.1:${shard.target.port}`);
    // Attempts of the other connections may fail before the end is carried out.
    const failed = run.count('connectRefused');
    expect(failed - LIMITS.maxInitialConnectFailures).toBeGreaterThanOrEqual(0);
    expect(failed - LIMITS.maxInitialConnectFailures).toBeLessThan(3);
    expect(run.count('notSentFatal')).toBe(1_000 - failed - run.count('inFlightAtEnd'));
  });

  it('ends at the first refused connection when socket errors are to stop the load', async () => {
    const port = await closedPort();
    const run = await runShardAgainst(
      shardFor(port, { requests: 50, connections: 1, onSocketError: 'stop' }),
    );
    expect(run.failures).toEqual({ connectRefused: 1 });
    expect([run.count('sent'), run.count('notSentFatal')]).toEqual([1, 49]);
    expect(run.end.fatal?.code).toBe('ECONNREFUSED');
  });

  it('ends at the first reply that does not come in time when socket errors are to stop the load', async () => {
    const behaviour: Behaviour = (socket, n) => void (n === 2 || socket.write(reply(1)));
    const target = await listen(behaviour);
    const run = await runShardAgainst(
      shardFor(target.port, { requests: 50, timeoutMs: 150, onSocketError: 'stop' }),
    );
    expect(run.end.fatal).toMatchObject({ failureClass: 'timeout', code: 'ETIMEDOUT' });
    expect(run.failures).toEqual({ timeout: 1 });
    expect([run.count('completed'), run.count('sent'), run.count('notSentFatal')]).toEqual([2, 3, 47]);
  });

  it('ends at the first reset when socket errors are to stop the load', async () => {
    const behaviour: Behaviour = (socket, n) =>
      void (n === 2 ? socket.resetAndDestroy() : socket.write(reply(1)));
    const target = await listen(behaviour);
    const run = await runShardAgainst(shardFor(target.port, { requests: 50, onSocketError: 'stop' }));
    expect(run.end.fatal).toMatchObject({
      failureClass: 'resetBeforeFirstByte',
      code: 'ECONNRESET',
      errno: 104,
    });
    expect([run.count('completed'), run.count('sent'), run.count('notSentFatal')]).toEqual([2, 3, 47]);
  });

  it('waits longer and longer before it tries a dead target again', async () => {
    const target = await RawTarget.listen((socket) => {
      if (target.requests === 20) void target.close();
      else socket.write(reply(1));
    });
    const run = await runShardAgainst(shardFor(target.port, { durationMs: 1_500, connections: 2 }));
    expect(run.count('completed')).toBe(19);
    expect(target.connections).toBeLessThanOrEqual(2);
    // 1.5 s of 10, 20, 40 … ms: about seven attempts of each connection, where a machine has the time.
    expect(run.count('connectRefused')).toBeGreaterThan(2);
    expect(run.count('connectRefused')).toBeLessThan(20);
    expect(run.end.fatal).toBeUndefined();
  });

  it('refuses a target that the policy does not allow, and one that has no address', async () => {
    const shard = shardFor(80, { requests: 1 });
    await expect(runShardAgainst(shard, { refusalOf: () => 'so' })).rejects.toThrow(/policy does not allow/);
    const lookup = (): Promise<never> => Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' }));
    const named = shardFor(80, { requests: 1, target: { host: 'no-such-name.test' } });
    await expect(runShardAgainst(named, { lookup })).rejects.toThrow(/cannot resolve no-such-name.test/);
  });
});

describe('probe', () => {
  it('goes out alone as the first request of the budget and keeps its connection', async () => {
    const seen: number[] = [];
    const target = await listen((socket) => {
      seen.push(target.open);
      setTimeout(() => socket.write(reply(42, { lines: ['Server: probe/1'] })), 20);
    });
    const run = await runShardAgainst(shardFor(target.port, { requests: 9, connections: 3, probe: true }));
    expect(run.probed).toEqual({ ok: true, bodyBytes: 42, status: 200, server: 'probe/1' });
    expect(seen[0]).toBe(1);
    expect([run.count('completed'), target.requests, target.connections]).toEqual([9, 9, 3]);
    expect([run.histogram('fresh').total, run.histogram('reused').total]).toEqual([3, 6]);
  });

  it('can be the only request', async () => {
    const target = await listen(answer);
    const run = await runShardAgainst(shardFor(target.port, { requests: 1, probe: true }));
    expect([run.count('completed'), run.intervals.length]).toEqual([1, 1]);
    // It counts as if it had ended at the start instant.
    const tookUs = run.histogram('fresh').maxUs;
    expect(gaugeOf(run.end.totals, 'firstSendUs')).toBeCloseTo(-tookUs, -1);
    expect(gaugeOf(run.end.totals, 'lastEventUs')).toBe(0);
  });

  it('works without keep-alive', async () => {
    const target = await listen((socket) => void socket.end(reply(3, { lines: ['Connection: close'] })));
    const shard = shardFor(target.port, {
      requests: 5,
      connections: 2,
      probe: true,
      keepAlive: false,
      checkLength: true,
    });
    const run = await runShardAgainst(shard);
    expect([run.count('completed'), target.connections]).toEqual([5, 5]);
  });

  it('reports its failure and sends nothing more', async () => {
    const target = await listen((socket) => void socket.end('nonsense'));
    const run = await runShardAgainst(shardFor(target.port, { requests: 10, probe: true }));
    expect(run.probed).toMatchObject({ ok: false, fatal: { failureClass: 'malformed' } });
    expect([target.requests, run.count('notSentStopped')]).toEqual([1, 9]);
  });

  it('reports a refused connection, and ends by itself where socket errors stop the load', async () => {
    const shard = shardFor(await closedPort(), { requests: 10, probe: true, onSocketError: 'stop' });
    const run = await runShardAgainst(shard);
    expect(run.probed).toMatchObject({ ok: false, fatal: { code: 'ECONNREFUSED' } });
    expect(run.count('sent')).toBe(1);
  });

  it('opens its connection again when the target closed it before the start', async () => {
    const target = await listen((socket, n, connection) => {
      socket.write(reply(1));
      if (connection === 0 && n === 0) socket.end();
    });
    const control = new ShardControl();
    const sums: number[] = [];
    const run = runShard({
      shard: shardFor(target.port, { requests: 4, probe: true }),
      control,
      refusalOf: () => undefined,
      sink: {
        onReady: () => control.probe(),
        onRefused: () => undefined,
        onProbed: () => {
          control.start(monotonicClock.nowUs() + 100_000);
          run.wake();
        },
        onInterval: () => undefined,
        onEnded: ({ totals }) => {
          for (const name of ['completed', 'connectionsClosedIdle', 'connectionsOpened'] as const) {
            sums.push(totals.counters[COUNTER[name]] ?? -1);
          }
        },
      },
    });
    await run.ended;
    expect(sums).toEqual([4, 1, 2]);
  });
});

describe('stop', () => {
  it('ends a run in its middle and says what was not sent', async () => {
    const target = await listen(answer);
    const shard = shardFor(target.port, { requests: 1_000_000, connections: 5 });
    const run = await runShardAgainst(shard, { onInterval: (_, stop) => stop() });
    expect(run.count('completed')).toBeGreaterThan(100);
    expect(run.count('notSentStopped')).toBe(1_000_000 - run.count('sent'));
    expect(run.count('inFlightAtEnd')).toBe(5);
    expect(run.end.fatal).toBeUndefined();
  });

  it('ends a run whose target never answers at once', async () => {
    const target = await listen(silence);
    const startedUs = monotonicClock.nowUs();
    const shard = shardFor(target.port, { requests: 10, connections: 2 });
    const run = await runShardAgainst(shard, { onStarted: (stop) => setTimeout(stop, 50) });
    expect([run.count('inFlightAtEnd'), run.count('notSentStopped')]).toEqual([2, 8]);
    expect(monotonicClock.nowUs() - startedUs).toBeLessThan(1_000_000);
  });

  it('ends a run that was never started', async () => {
    const control = new ShardControl();
    control.stop();
    const notSent: number[] = [];
    const run = runShard({
      shard: shardFor(1, { requests: 7 }),
      control,
      refusalOf: () => undefined,
      sink: {
        onReady: () => undefined,
        onRefused: () => undefined,
        onProbed: () => undefined,
        onInterval: () => undefined,
        onEnded: ({ totals }) => notSent.push(totals.counters[COUNTER.notSentStopped] ?? 0),
      },
    });
    await run.ended;
    expect(notSent).toEqual([7]);
  });
});
