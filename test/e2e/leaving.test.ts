import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { broadside, startBroadside } from '../cli/broadside.js';
import { parseAbReport } from '../support/ab-shape.js';
import { WellBehavedTarget } from '../targets/well-behaved-target.js';
import { fire, reportOf, startRun } from './command-line.js';
import { PrivateFolder } from './left-behind.js';
import { startServe } from './started-cluster.js';

/** The first line of progress tells that the load is on its way. */
const UNDER_LOAD = /^\d+s {2}/;

const target = new WellBehavedTarget({ delayMs: 2 });
let folder: PrivateFolder;
beforeAll(() => target.start());
afterAll(() => target.stop());
beforeEach(async () => {
  folder = await PrivateFolder.create();
});
afterEach(() => folder.remove());

describe('an interrupted run', () => {
  it('reports exactly what the target has seen', async () => {
    const seenBefore = target.counters.requestsSeen;
    const run = await startRun(['run', '-n', '1000000', '-c', '5', `${target.url}/`]);
    await run.process.waitForLine(UNDER_LOAD);
    run.process.signal('SIGINT');
    const fired = await run.ended;
    expect(fired.exitCode).toBe(130);
    const { counters, verdict, ledger } = reportOf(fired);
    expect(verdict.outcome).toBe('aborted');
    expect(ledger).toEqual({ balanced: true, problems: [] });
    expect(counters.sent).toBe(target.counters.requestsSeen - seenBefore);
    expect(counters.planned).toBe(1_000_000);
    expect(counters.notSentStopped).toBe(1_000_000 - counters.sent);
    expect(counters.sent - counters.completed).toBe(counters.inFlightAtEnd);
  });

  it('of ab prints the report of ab for what was done, and ends with 1', async () => {
    const seenBefore = target.counters.requestsSeen;
    const run = await startRun(['ab', '-n', '1000000', '-c', '5', '-k', `${target.url}/`]);
    await expect
      .poll(() => target.counters.requestsSeen - seenBefore, { timeout: 20_000 })
      .toBeGreaterThan(500);
    run.process.signal('SIGINT');
    const fired = await run.ended;
    expect(fired.exitCode).toBe(1);
    const report = parseAbReport(fired.stdout);
    expect(report.failedRequests).toBe(0);
    expect(report.completeRequests).toBe(reportOf(fired).counters.completed);
    expect(report.completeRequests).toBeGreaterThan(400);
  });

  it('stops within a second, and leaves no process and no file', async () => {
    const run = await startBroadside(['run', '-d', '60s', '-c', '5', `${target.url}/`], folder.env);
    await run.waitForLine(UNDER_LOAD);
    run.signal('SIGINT');
    await expect.poll(() => target.counters.connectionsOpen, { timeout: 2_000, interval: 20 }).toBe(0);
    expect((await run.exit).exitCode).toBe(130);
    expect(await folder.processes()).toEqual([]);
    expect(await folder.files()).toEqual([]);
  });

  it('that is interrupted before it began sends nothing, and leaves nothing', async () => {
    const seenBefore = target.counters.requestsSeen;
    const run = await startBroadside(['ab', '-n', '10', '-c', '2', `${target.url}/`], folder.env);
    // The banner is out, and the embedded cluster is on its way up.
    await run.waitForLine(/^Copyright/);
    run.signal('SIGINT');
    const { exitCode } = await run.exit;
    // As in the middle of a run.
    expect(exitCode).toBe(1);
    expect(run.stderr()).not.toMatch(/internal error|\n {4}at /);
    expect(target.counters.requestsSeen).toBe(seenBefore);
    expect(await folder.processes()).toEqual([]);
    expect(await folder.files()).toEqual([]);
  });

  it('leaves at once at the second signal, even while its target says nothing', async () => {
    const silent = new WellBehavedTarget({ delayMs: 60_000 });
    await silent.start();
    const run = await startBroadside(['run', '-d', '60s', '-c', '2', `${silent.url}/`], folder.env);
    await run.waitForLine(UNDER_LOAD);
    run.signal('SIGINT');
    await run.waitForLine(/a second signal leaves at once/);
    const startMs = performance.now();
    run.signal('SIGINT');
    expect((await run.exit).exitCode).toBe(130);
    expect(performance.now() - startMs).toBeLessThan(1_000);
    expect(await folder.processes()).toEqual([]);
    await silent.stop();
  });
});

describe('commands beside each other', () => {
  it('work in the same moment, each with a cluster of its own', async () => {
    const seenBefore = target.counters.requestsSeen;
    const all = await Promise.all(
      [401, 503].map((n) => fire(['ab', '-n', String(n), '-c', '3', '-k', `${target.url}/`])),
    );
    expect(all.map((fired) => fired.exitCode)).toEqual([0, 0]);
    expect(all.map((fired) => reportOf(fired).counters.completed)).toEqual([401, 503]);
    expect(target.counters.requestsSeen - seenBefore).toBe(904);
  });
});

describe('a command that is killed', () => {
  it('takes its load with it, and the next command is unharmed', async () => {
    const run = await startBroadside(['run', '-d', '60s', '-c', '5', `${target.url}/`], folder.env);
    await run.waitForLine(UNDER_LOAD);
    await run.kill();
    await expect.poll(() => target.counters.connectionsOpen, { timeout: 5_000 }).toBe(0);
    expect(await folder.processes()).toEqual([]);
    const next = await broadside(['ab', '-n', '100', '-c', '2', '-k', `${target.url}/`], folder.env);
    expect(next.exitCode).toBe(0);
    expect(next.stdout).toMatch(/^Complete requests: +100$/m);
  });

  it('as a coordinator with a data directory can be started again on it, and knows its runs', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'broadside-e2e-'));
    const first = await startServe(['--data-dir', dataDir, '--slots', '1']);
    const fired = await fire(['ab', '--agents-at', first.url, '-n', '50', '-k', `${target.url}/`]);
    const { id } = reportOf(fired).run;
    await first.process.kill();
    const second = await startServe(['--data-dir', dataDir, '--slots', '1']);
    const known = await fetch(`${second.url}/api/runs/${id}`);
    expect(await known.json()).toMatchObject({
      id,
      state: 'finished',
      report: { counters: { completed: 50 } },
    });
    await second.process.stop();
    await rm(dataDir, { recursive: true });
  });
});
