// `--ab-counting classic` beside Debian's own ab, at every kind of misbehaving target: the same figures wherever ab's
// are the same twice, and one line of output for each reason why not.

import { AB_DIFFERENCE_TEXTS, AB_DIFFERENCES, type AbDifference } from '@broadside/shared';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AbReport, parseAbReport } from '../support/ab-shape.js';
import { canRun } from '../support/programs.js';
import { runRealAb } from '../support/real-ab.js';
import { misbehavingTargets, unusualTargets } from '../targets/all-targets.js';
import { ClosingTarget } from '../targets/closing-target.js';

import type { Target } from '../targets/target-server.js';
import { type FiredRun, fire } from './command-line.js';
import { type StartedCoordinator, startServe } from './started-cluster.js';

/**
 * Why the figures differ, target by target: all that may be told, one of which is. With most of them ab hangs until
 * -s ends it, and prints no report.
 */
const DELIBERATE: Readonly<Record<string, readonly AbDifference[]>> = {
  refuses: ['refused'],
  'length: truncated-body': ['cutOff'],
  'length: truncated-chunk': ['cutOff', 'chunked'],
  'length: missing-last-chunk': ['cutOff', 'chunked'],
  'length: truncated-header': ['cutOff'],
  'length: announces-more': ['timedOut'],
  'length: announces-less': ['surplus', 'leftOpen'],
  'silent: never-answers': ['timedOut'],
  'silent: stops-after-header': ['timedOut'],
  // A slow machine may not come to its end within -s.
  'endless: header': ['tooLarge', 'timedOut'],
  'garbage: another-protocol': ['notHttp'],
  'garbage: bad-chunk-size': ['notHttp', 'chunked'],
  'odd framing: continue-first': ['interim', 'keptSilently', 'leftOpen'],
  'odd framing: no-content-with-length': ['keptSilently', 'leftOpen'],
  'odd framing: length-and-chunked': ['chunked', 'leftOpen'],
  'odd framing: odd-case': ['leftOpen'],
};
/** All figures are equal, but for Exceptions where only time decides about them. */
const EQUAL = [
  'status: 500',
  'closes: after-reply',
  'closes: close-after-reply',
  'closes: on-next-request',
  'closes: announced',
  'resets: before-first-byte',
  'resets: after-first-byte',
  'length: varying',
];
/** Whether ab sees the reset behind a close in the same look at the socket. */
const EXCEPTIONS_BY_CHANCE = ['closes: after-reply', 'closes: close-after-reply'];

const targets = [...misbehavingTargets, ...unusualTargets].filter(
  ([name]) => name in DELIBERATE || EQUAL.includes(name),
);
const MODES = [['-k', '-r'], ['-r'], ['-k']] as const;

let coordinator: StartedCoordinator;
beforeAll(async () => {
  coordinator = await startServe(['--slots', '4']);
});
afterAll(() => coordinator.process.stop());

/** What a run of either program comes to. One that ends with an error has no figures but these two. */
interface Figures {
  readonly exitCode: number | null;
  readonly totalLine: string | undefined;
  readonly complete?: number;
  readonly failed?: number;
  readonly failedBy?: AbReport['failedBy'];
  readonly keepAlive?: number | undefined;
  readonly non2xx?: number | undefined;
  readonly documentLength?: unknown;
  readonly transferred?: number;
}

function figuresOf({ exitCode, stdout }: { exitCode: number | null; stdout: string }): Figures {
  const totalLine = /^Total of \d+ requests completed$/m.exec(stdout)?.[0];
  // Beside an error ab prints no report, and ours has one of what was done.
  if (exitCode !== 0 || !stdout.includes('Concurrency Level:')) return { exitCode, totalLine };
  const report = parseAbReport(stdout);
  return {
    exitCode,
    totalLine,
    complete: report.completeRequests,
    failed: report.failedRequests,
    failedBy: report.failedBy,
    keepAlive: report.keepAliveRequests,
    non2xx: report.non2xxResponses,
    documentLength: report.documentLengthBytes,
    transferred: report.totalTransferredBytes,
  };
}

/** Exceptions, and the part of the sum that they are, left out where they are a matter of chance. */
function comparable(name: string, figures: Figures): Figures {
  const { failed, failedBy } = figures;
  if (!EXCEPTIONS_BY_CHANCE.includes(name) || failed === undefined) return figures;
  const { exceptions, ...by } = failedBy ?? { connect: 0, receive: 0, length: 0, exceptions: 0 };
  return { ...figures, failed: failed - exceptions, failedBy: { ...by, exceptions: 0 } };
}

/** The figures that were the same in both of ab's own runs. */
function steadyOf(first: Figures, second: Figures): Figures {
  const entries = Object.entries(first).filter(
    ([name, value]) => JSON.stringify(second[name as keyof Figures]) === JSON.stringify(value),
  );
  // The same fields, some left out.
  return Object.fromEntries(entries) as unknown as Figures;
}

async function against<T>(target: Target, use: (url: string) => Promise<T>): Promise<T> {
  await target.start();
  try {
    return await use(`${target.url}/`);
  } finally {
    await target.stop();
  }
}

const fireClassic = (words: readonly string[]): Promise<FiredRun> =>
  fire(
    ['ab', '--agents-at', coordinator.url, '--slots', '1', '--ab-counting', 'classic', ...words],
    COMMAND_TIMEOUT_MS,
  );

/** Longer than anything takes, on a machine that others load too. */
const COMMAND_TIMEOUT_MS = 180_000;

function toldIn(stderr: string): AbDifference[] {
  const text = stderr.replace(/\s+/g, ' ');
  return AB_DIFFERENCES.filter((name) => text.includes(AB_DIFFERENCE_TEXTS[name]));
}

describe.runIf(canRun('ab')).concurrent('classic counting beside the real ab, at a target that', () => {
  for (const [name, create] of targets) {
    it.each(MODES.map((mode) => [mode]))(`${name}, with %j`, async (mode) => {
      const requests = name.startsWith('closes') ? 350 : 6;
      const words = ['-n', String(requests), '-c', '1', '-s', '1', ...mode];
      const theirs = async (): Promise<Figures> => {
        const run = await against(create(), (url) => runRealAb([...words, url]));
        return comparable(name, figuresOf(run));
      };
      const steady = steadyOf(await theirs(), await theirs());
      const fired = await against(create(), (url) => fireClassic([...words, url]));
      const ours = comparable(name, figuresOf(fired));
      const told = toldIn(fired.stderr);
      const expected = DELIBERATE[name] ?? [];
      expect([...expected, 'exceptions']).toEqual(expect.arrayContaining(told));
      // Whatever is not told is the same.
      if (!told.some((difference) => expected.includes(difference))) expect(ours).toMatchObject(steady);
    });
  }
});

describe.runIf(canRun('ab'))('the case of the seed reports, at 1:100', () => {
  const LIMIT = 100;
  const HEAD_AND_BODY =
    100 + 'HTTP/1.0 200 OK\r\nContent-Length: 100\r\nConnection: keep-alive\r\n\r\n'.length;

  // A connection closes after 100 replies without a word, and the request that is on its way then gets none: 1 of
  // 101. With 10 connections each ends somewhere in its cycle. With 100 that are equally quick,
  // none gets that far in 10 000 requests: there are a fifth more.
  it.each([
    [1, 10_000, 99, 99],
    [10, 10_000, 90, 99],
    [100, 12_000, 1, 118],
  ])('with %i connections, %i requests: %i to %i closes, as ab counts them, and why', async (...row) => {
    const [c, requests, least, most] = row;
    const words = ['-n', String(requests), '-c', String(c), '-k'];
    const create = (): Target => new ClosingTarget({ everyReplies: LIMIT, manner: 'after-reply' });
    const theirs = await against(create(), (url) => runRealAb([...words, url]));
    const fired = await against(create(), (url) => fireClassic([...words, url]));
    const ours = parseAbReport(fired.stdout);
    for (const report of [theirs.report, ours]) {
      const { receive = -1, length = -1, connect = -1 } = report?.failedBy ?? {};
      expect([connect, receive]).toEqual([0, 0]);
      expect(length).toBeGreaterThanOrEqual(least);
      expect(length).toBeLessThanOrEqual(most);
      expect(report?.completeRequests).toBe(requests);
      expect(report?.keepAliveRequests).toBe(requests - length);
      // With -k ab goes on sending, and may still read a reply of each other connection when it has its last.
      const surplus = (report?.totalTransferredBytes ?? 0) / HEAD_AND_BODY - (requests - length);
      expect(Array.from({ length: report === ours ? 1 : c }, (_, i) => i)).toContain(surplus);
    }
    const text = fired.stderr.replace(/\s+/g, ' ');
    expect(text).toMatch(
      /the server closes every connection after 100 requests without announcing it \(\d+ closes\)/,
    );
    expect(toldIn(fired.stderr)).toEqual(['exceptions']);
  });
});
