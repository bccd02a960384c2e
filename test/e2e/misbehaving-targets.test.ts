import { COUNTER_NAMES, FAILURE_CLASSES, type FailureClass, type Report } from '@broadside/shared';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { misbehavingTargets, unusualTargets } from '../targets/all-targets.js';
import type { Target } from '../targets/target-server.js';
import { type FiredRun, fire, reportOf } from './command-line.js';
import { type StartedCoordinator, startServe } from './started-cluster.js';

/** What a kind of target must be counted as. */
interface Expected {
  readonly requests: number;
  readonly connections: number;
  /** Failures of `ab -r`, and of `run` unless told otherwise. */
  readonly failures: 'all' | 'some' | 'none';
  /** The classes that may occur. Which of two it is can depend on whose packet is quicker. */
  readonly classes: readonly FailureClass[];
  readonly abExit: number;
  /** Exit codes of `ab` without -r. */
  readonly abStopExits: readonly number[];
  readonly runExit: number;
  readonly runFailures?: 'all' | 'none';
  readonly runClasses?: readonly FailureClass[];
  readonly timeoutS: number;
}

const fine: Expected = {
  requests: 60,
  connections: 3,
  failures: 'none',
  classes: [],
  abExit: 0,
  abStopExits: [0],
  runExit: 0,
  timeoutS: 10,
};
const wrong = (...classes: FailureClass[]): Expected => ({ ...fine, failures: 'all', classes, runExit: 1 });
/** Every request takes its whole time, so there are few. */
const slow: Expected = {
  ...wrong('timeout'),
  requests: 4,
  connections: 2,
  abStopExits: [119],
  timeoutS: 1,
};
const reset: Expected = { ...wrong('resetBeforeFirstByte'), abStopExits: [104] };
/** One connection closes after 100, 200 and 300 replies, each time with a request on its way. */
const closing: Expected = {
  ...fine,
  requests: 350,
  connections: 1,
  failures: 'some',
  classes: ['closedWithoutReplyReused', 'resetBeforeFirstByte'],
  abStopExits: [0, 104],
};
const notModified: Expected = { ...fine, runExit: 1, runFailures: 'all', runClasses: ['status'] };

/** By name or by the first part of it. */
const expectations: Readonly<Record<string, Expected>> = {
  'status: 500': { ...fine, runExit: 1, runFailures: 'all', runClasses: ['status'] },
  refuses: { ...wrong('connectRefused'), abExit: 111, abStopExits: [111], runExit: 4 },
  closes: closing,
  'closes: announced': { ...fine, requests: 350, connections: 1 },
  resets: reset,
  'resets: at-accept': { ...reset, classes: ['resetBeforeFirstByte', 'connectOther'] },
  // The reset may overtake the part of the reply that was sent before it.
  'resets: after-first-byte': { ...reset, classes: ['resetAfterFirstByte', 'resetBeforeFirstByte'] },
  length: wrong('truncated'),
  'length: announces-more': slow,
  'length: announces-less': fine,
  'length: varying': { ...fine, failures: 'some', classes: ['lengthDiffers'], runFailures: 'none' },
  silent: slow,
  'silent: drips': { ...fine, requests: 4, connections: 2 },
  endless: { ...wrong('tooLarge'), requests: 4, connections: 2 },
  'endless: body': slow,
  'endless: chunks': slow,
  garbage: wrong('malformed'),
  'odd framing': fine,
  'odd framing: not-modified-with-length': notModified,
};

function expectationFor(name: string): Expected {
  const expected = expectations[name] ?? expectations[name.replace(/:.*/, '')];
  if (expected === undefined) throw new Error(`nothing is said of ${name}; say what it must be counted as`);
  return expected;
}

let coordinator: StartedCoordinator;
beforeAll(async () => {
  coordinator = await startServe(['--slots', '9']);
});
afterAll(() => coordinator.process.stop());

describe.concurrent('a target that', () => {
  it.each(misbehavingTargets)('misbehaves ("%s") neither crashes nor hangs a run', async (name, create) => {
    const expected = expectationFor(name);
    const [going, stopping, own] = await Promise.all([
      againstOne(create(), expected, abWords('-k', '-r')),
      againstOne(create(), expected, abWords('-k')),
      againstOne(create(), expected, runWords()),
    ]);
    expect(going.fired.exitCode).toBe(expected.abExit);
    expectAbOutcome(going, expected);
    expect(expected.abStopExits).toContain(stopping.fired.exitCode);
    expectAbStopped(stopping, expected);
    expect(own.fired.exitCode).toBe(expected.runExit);
    expectFailures(own.report, expected.runFailures ?? expected.failures);
  });

  it.each(unusualTargets)('is right in an unusual way ("%s") counts as right', async (name, create) => {
    const expected = expectationFor(name);
    const [classic, own] = await Promise.all([
      againstOne(create(), expected, abWords('-k')),
      againstOne(create(), expected, runWords()),
    ]);
    expect(classic.fired.exitCode).toBe(0);
    expectAbOutcome(classic, expected);
    expect(own.fired.exitCode).toBe(expected.runExit);
    expectFailures(own.report, expected.runFailures ?? expected.failures);
  });
});

/** Fifteen commands may start at the same moment, on two cores that others use too. */
const COMMAND_TIMEOUT_MS = 60_000;

interface Shot {
  readonly fired: FiredRun;
  readonly report: Report;
}

type Words = (expected: Expected) => readonly string[];

function abWords(...options: string[]): Words {
  return ({ timeoutS }) => ['ab', '--agents-at', coordinator.url, '-s', String(timeoutS), ...options];
}

function runWords(): Words {
  return ({ timeoutS }) => ['run', '--coordinator', coordinator.url, '--timeout', `${timeoutS}s`];
}

/** Fires at one fresh target and checks what must hold whatever the target does. */
async function againstOne(target: Target, expected: Expected, words: Words): Promise<Shot> {
  await target.start();
  try {
    const load = ['-n', String(expected.requests), '-c', String(expected.connections), '--slots', '1'];
    const fired = await fire([...words(expected), ...load, `${target.url}/`], COMMAND_TIMEOUT_MS);
    const shot = { fired, report: reportOf(fired) };
    const rounds = Math.ceil(expected.requests / expected.connections);
    expect(shot.report.timeTakenUs).toBeLessThan((rounds * expected.timeoutS + 5) * 1_000_000);
    expectSoundBooks(shot, expected);
    expect(target.counters.requestsSeen).toBeLessThanOrEqual(shot.report.counters.sent);
    expect(fired.stderr).not.toMatch(/internal error|\n {4}at /);
    return shot;
  } finally {
    await target.stop();
  }
}

function expectSoundBooks({ report }: Shot, { requests, classes, runClasses }: Expected): void {
  const { counters, ledger } = report;
  expect(ledger).toEqual({ balanced: true, problems: [] });
  const failed = failedIn(report);
  expect(counters.planned).toBe(requests);
  expect(counters.sent).toBeLessThanOrEqual(requests);
  expect(counters.completed + failed + counters.inFlightAtEnd).toBe(counters.sent);
  expect(failed).toBeLessThanOrEqual(requests);
  for (const name of FAILURE_CLASSES) {
    if (counters[name] > 0) expect([...classes, ...(runClasses ?? [])]).toContain(name);
  }
  for (const name of COUNTER_NAMES) expect(counters[name]).toBeGreaterThanOrEqual(0);
}

function expectAbOutcome({ fired, report }: Shot, expected: Expected): void {
  expectFailures(report, expected.failures);
  if (expected.abExit !== 0) return;
  // A refused connection is no completed request; everything else that failed is one.
  const complete = Number(/^Complete requests: +(\d+)$/m.exec(fired.stdout)?.[1]);
  const failed = Number(/^Failed requests: +(\d+)$/m.exec(fired.stdout)?.[1]);
  expect(complete + report.counters.connectOther).toBe(expected.requests);
  expect(failed).toBe(failedIn(report));
}

/** Without -r the first broken connection ends `ab`, with its message; a reply that is only wrong does not. */
function expectAbStopped({ fired, report }: Shot, expected: Expected): void {
  if (fired.exitCode === 0) expect(report.counters.sent).toBe(expected.requests);
  else expect(fired.stderr).toMatch(/^apr_(socket_recv|pollset_poll): .+ \(\d+\)$/m);
}

function expectFailures(report: Report, failures: Expected['failures']): void {
  const { counters } = report;
  const failed = failedIn(report);
  if (failures === 'none') expect([failed, counters.completed]).toEqual([0, counters.planned]);
  if (failures === 'all') expect([failed > 0, counters.completed]).toEqual([true, 0]);
  if (failures === 'some') expect([failed > 0, counters.completed > failed / 2]).toEqual([true, true]);
}

function failedIn({ counters }: Report): number {
  return FAILURE_CLASSES.reduce((sum, name) => sum + counters[name], 0);
}
