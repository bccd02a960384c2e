import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AbReport, parseAbReport, shapeOf } from '../support/ab-shape.js';
import { NginxServer } from '../support/nginx.js';
import { canRun } from '../support/programs.js';
import { type AbRun, runRealAb } from '../support/real-ab.js';
import { ClosingTarget } from '../targets/closing-target.js';
import { WellBehavedTarget } from '../targets/well-behaved-target.js';
import { type FiredRun, fire, reportOf } from './command-line.js';
import { type StartedCoordinator, startServe } from './started-cluster.js';

interface Pair {
  readonly ours: FiredRun;
  readonly ourReport: AbReport;
  readonly theirs: AbRun;
  readonly theirReport: AbReport;
}

/** Runs both programs with the same words, ours with a few of its own before them. */
async function runBoth(ownWords: readonly string[], words: readonly string[]): Promise<Pair> {
  const theirs = await runRealAb(words);
  const ours = await fire(['ab', ...ownWords, ...words]);
  reportOf(ours);
  if (theirs.report === undefined) throw new Error(`the real ab printed no report\n${theirs.stderr}`);
  return { ours, theirs, ourReport: parseAbReport(ours.stdout), theirReport: theirs.report };
}

/** Everything in a report that does not depend on time. */
function countsOf(report: AbReport) {
  const { serverSoftware, hostname, port, documentPath, documentLengthBytes, concurrency } = report;
  const { completeRequests, failedRequests, failedBy, writeErrors, non2xxResponses } = report;
  const { keepAliveRequests, totalTransferredBytes, totalBodySentBytes, htmlTransferredBytes } = report;
  return {
    target: [serverSoftware, hostname, port, documentPath, documentLengthBytes, concurrency],
    requests: [completeRequests, failedRequests, failedBy, writeErrors, non2xxResponses, keepAliveRequests],
    bytes: [totalTransferredBytes, totalBodySentBytes, htmlTransferredBytes],
  };
}

/** Of stderr, what ab itself prints while all goes well. */
function progressOf(stderr: string): string[] {
  return stderr.split('\n').filter((line) => /^(Completed|Finished) /.test(line));
}

/** The same report but for times, the same progress, the same exit code. */
function expectSame({ ours, ourReport, theirs, theirReport }: Pair): void {
  expect(shapeOf(ours.stdout)).toEqual(shapeOf(theirs.stdout));
  expect(countsOf(ourReport)).toEqual(countsOf(theirReport));
  expect(progressOf(ours.stderr)).toEqual(progressOf(theirs.stderr));
  expect(ours.exitCode).toBe(theirs.exitCode);
}

describe.runIf(canRun('nginx', 'ab'))('broadside ab beside the real ab, against nginx', () => {
  let nginx: NginxServer;
  /** Closes a connection, with an announcement, after 1000 replies: nginx's own default. */
  let closing: NginxServer;
  let coordinator: StartedCoordinator;
  let folder = '';
  let page = '';

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'broadside-e2e-'));
    await writeFile(join(folder, 'form'), 'powder=dry&shot=round\n');
    nginx = await NginxServer.start({
      keepaliveRequests: 100_000_000,
      // The access of nginx's own modules to methods other than GET: one answer for all of them.
      serverDirectives: 'location = /form { return 200 "taken\\n"; }',
    });
    closing = await NginxServer.start();
    page = `${nginx.url}/100.html`;
    coordinator = await startServe(['--slots', '2']);
  });

  afterAll(async () => {
    await coordinator.process.stop();
    await closing.stop();
    await nginx.stop();
    await rm(folder, { recursive: true });
  });

  it('sends 100000 requests over 100 connections with nothing installed, and counts every byte', async () => {
    const pair = await runBoth([], ['-n', '100000', '-c', '100', '-k', page]);
    expectSame(pair);
    expect(pair.ours.exitCode).toBe(0);
    expect(pair.ourReport).toMatchObject({
      completeRequests: 100_000,
      failedRequests: 0,
      keepAliveRequests: 100_000,
      htmlTransferredBytes: 10_000_000,
    });
    const { counters, ledger } = reportOf(pair.ours);
    expect(ledger).toEqual({ balanced: true, problems: [] });
    expect(counters).toMatchObject({ planned: 100_000, connectionsOpened: 100, connectionsFailed: 0 });
  });

  it.each([
    ['a connection for each request', ['-n', '2000', '-c', '20'], '/100.html'],
    ['HEAD', ['-n', '300', '-c', '5', '-k', '-i'], '/100.html'],
    ['HEAD on new connections', ['-n', '200', '-c', '5', '-i'], '/100.html'],
    ['POST of a file', ['-n', '300', '-c', '5', '-k', '-p', 'FORM', '-T', 'text/x'], '/form'],
    ['PUT of a file on new connections', ['-n', '200', '-c', '5', '-u', 'FORM'], '/form'],
    ['pages of any length', ['-n', '200', '-c', '2', '-k', '-l'], '/100.html'],
    ['no table of percentiles', ['-n', '200', '-c', '2', '-d'], '/100.html'],
    ['the short table of times', ['-n', '200', '-c', '2', '-S'], '/100.html'],
    ['no progress', ['-n', '1000', '-c', '2', '-k', '-q'], '/100.html'],
    ['too few requests for progress', ['-n', '150', '-c', '2', '-k'], '/100.html'],
    ['just enough requests for progress', ['-n', '151', '-c', '2', '-k'], '/100.html'],
    ['an uneven step of progress', ['-n', '1055', '-c', '3', '-k'], '/100.html'],
    ['one request', ['-n', '1'], '/100.html'],
    ['one request on a connection that stays', ['-n', '1', '-k'], '/100.html'],
    ['two requests', ['-n', '2', '-k'], '/100.html'],
    ['a page that is not there', ['-n', '300', '-c', '3', '-k'], '/none.html'],
    ['a page that is not there, on new connections', ['-n', '200', '-c', '3'], '/none.html'],
    ['a method of its own', ['-n', '200', '-c', '3', '-k', '-m', 'DELETE'], '/form'],
    [
      'headers, a cookie and credentials',
      ['-n', '200', '-k', '-H', 'X: y', '-C', 'a=b', '-A', 'u:p'],
      '/form',
    ],
  ])('reports the same of %s', async (_title, options, path) => {
    const words = options.map((word) => (word === 'FORM' ? join(folder, 'form') : word));
    const pair = await runBoth(['--agents-at', coordinator.url], [...words, `${nginx.url}${path}`]);
    expectSame(pair);
    expect(reportOf(pair.ours).ledger).toEqual({ balanced: true, problems: [] });
  });

  it('has the same shape when time ends the run', async () => {
    const words = ['-t', '1', '-c', '2', '-k', '-q', page];
    const { ours, ourReport, theirs } = await runBoth(['--agents-at', coordinator.url], words);
    expect(shapeOf(ours.stdout)).toEqual(shapeOf(theirs.stdout));
    // Beyond the 50000 requests at which ab ends although there is time left, or as many as this machine can.
    expect(ourReport.timeTakenS).toBeGreaterThan(0.9);
    expect(ourReport.timeTakenS).toBeLessThan(1.2);
    expect(ourReport.failedRequests).toBe(0);
  });

  it('takes closes that the server announces for no failure', async () => {
    const words = ['-n', '4500', '-c', '1', '-k', `${closing.url}/100.html`];
    const pair = await runBoth(['--agents-at', coordinator.url], words);
    expectSame(pair);
    expect(pair.ourReport).toMatchObject({ failedRequests: 0, keepAliveRequests: 4_496 });
    expect(reportOf(pair.ours).counters).toMatchObject({
      connectionsClosedAnnounced: 4,
      connectionsClosedUnannounced: 0,
    });
  });

  it('balances announced closes over many connections and slots', async () => {
    const words = ['ab', '--agents-at', coordinator.url, '-n', '20000', '-c', '10', '-k'];
    const fired = await fire([...words, `${closing.url}/100.html`]);
    const { counters } = reportOf(fired);
    expect(parseAbReport(fired.stdout)).toMatchObject({ completeRequests: 20_000, failedRequests: 0 });
    expect(counters.connectionsClosedAnnounced).toBeGreaterThanOrEqual(8);
    // A connection whose very last reply announces the close may be closed by us before the server does it.
    const others = 20_000 - counters.keepAliveReplies - counters.connectionsClosedAnnounced;
    expect(others).toBeGreaterThanOrEqual(0);
    expect(others).toBeLessThanOrEqual(10);
    expect(counters.connectionsClosedUnannounced).toBe(0);
  });
});

describe.runIf(canRun('ab'))('a server that closes connections without announcing it', () => {
  it('gives as many failed requests as the real ab counts, on the same line', async () => {
    const target = new ClosingTarget({ everyReplies: 100, manner: 'on-next-request' });
    const coordinator = await startServe(['--slots', '1']);
    await target.start();
    try {
      const words = ['-n', '1000', '-k', `${target.url}/`];
      const theirs = await runRealAb(words);
      const ours = await fire(['ab', '--agents-at', coordinator.url, ...words]);
      expect(theirs.report?.failedRequests).toBe(9);
      // The one line that the real ab has not; it stands where the later generation of ab has it.
      const extra = /^Keep-Alive aborts: {6}9\n/m;
      expect(ours.stdout).toMatch(extra);
      expect(shapeOf(ours.stdout.replace(extra, ''))).toEqual(shapeOf(theirs.stdout));
      const { requests, bytes } = countsOf(parseAbReport(ours.stdout.replace(extra, '')));
      const real = countsOf(parseAbReport(theirs.stdout));
      expect([requests, bytes]).toEqual([real.requests, real.bytes]);
      expect(ours.stderr.replace(/\s+/g, ' ')).toContain(
        'the server closes every connection after 100 requests without announcing it (9 closes)',
      );
    } finally {
      await target.stop();
      await coordinator.process.stop();
    }
  });
});

describe.runIf(canRun('ab'))('what goes over the wire', () => {
  const target = new WellBehavedTarget();
  let coordinator: StartedCoordinator;
  let form = '';
  let folder = '';

  beforeAll(async () => {
    await target.start();
    folder = await mkdtemp(join(tmpdir(), 'broadside-e2e-'));
    form = join(folder, 'form');
    await writeFile(form, 'a=1&b=2');
    coordinator = await startServe(['--slots', '1']);
  });
  afterAll(async () => {
    await coordinator.process.stop();
    await target.stop();
    await rm(folder, { recursive: true });
  });

  it.each([
    ['nothing special', []],
    ['keep-alive', ['-k']],
    [
      'everything at once',
      ['-k', '-C', 'a=b', '-A', 'u:p', '-H', 'X-Z: 9', '-p', 'FORM', '-T', 'application/json'],
    ],
    ['headers that replace those of ab', ['-H', 'hOsT: other', '-H', 'User-Agent: me', '-H', 'Accept: a/b']],
  ])('is the same to the byte: %s', async (_title, options) => {
    const words = [...options.map((word) => (word === 'FORM' ? form : word)), `${target.url}/a/b?c=d`];
    await runRealAb(words);
    const theirs = target.lastRequest;
    const ours = await fire(['ab', '--agents-at', coordinator.url, ...words]);
    expect(ours.exitCode).toBe(0);
    expect(target.lastRequest).not.toBe(theirs);
    expect(target.lastRequest?.head).toBe(theirs?.head);
    expect(target.lastRequest?.body).toEqual(theirs?.body);
  });
});
