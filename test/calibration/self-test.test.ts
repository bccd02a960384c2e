import { describe, expect, it } from 'vitest';
import { broadside } from '../cli/broadside.js';

// Times are for the command itself to judge, which knows whether the machine was busy: a busy one ends with 3.
const MAY_BE_BUSY = [0, 3];

const SOME_FINDINGS: unknown = expect.arrayContaining([
  expect.objectContaining({ scenario: 'delays', what: 'latency p99.99' }),
  expect.objectContaining({ scenario: 'rate', what: 'requests at the target', measured: 6_000 }),
  expect.objectContaining({ scenario: 'freeze', what: 'corrected p99, from the schedule' }),
  expect.objectContaining({ scenario: 'failures', what: 'timed out', measured: 2 }),
  expect.objectContaining({ scenario: 'failures', what: 'reset within the reply', measured: 50 }),
  expect.objectContaining({ scenario: 'failures', what: 'length differs', measured: 50 }),
  expect.objectContaining({ scenario: 'keep-alive', what: 'limit recognised, in requests', measured: 50 }),
]);

/** `socket` stands in where the others do not work. */
const USED: Readonly<Record<string, RegExp>> = {
  auto: /^(io_uring|epoll|socket)$/,
  epoll: /^(epoll|socket)$/,
  socket: /^socket$/,
};

describe.each(['auto', 'epoll', 'socket'])('broadside self-test --short --transport %s', (transport) => {
  it('finds counts, classes and books exact, and no time that a calm machine has to answer for', async () => {
    const words = ['self-test', '--short', '--json', '-q', '--transport', transport];
    const { exitCode, stdout, stderr } = await broadside(words);
    const wrong = /"outcome": "wrong"/.test(stdout) ? stdout : '';
    expect({ wrong, stderr }).toEqual({ wrong: '', stderr: '' });
    expect(MAY_BE_BUSY).toContain(exitCode);
    expect(JSON.parse(stdout)).toMatchObject({
      format: 'broadside-self-test',
      outcome: exitCode === 0 ? 'ok' : 'unclear',
      transports: [expect.stringMatching(USED[transport] ?? /^$/)],
      findings: SOME_FINDINGS,
    });
  });
});

describe('broadside self-test', () => {
  it.each([
    [['--transport', 'carrier-pigeon'], /^broadside: --transport "carrier-pigeon": must be one of auto, /],
    [['now'], /^broadside: self-test: unexpected argument "now"/],
  ])('refuses %j in one line', async (words, expected) => {
    const { exitCode, stdout, stderr } = await broadside(['self-test', ...words]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toMatch(expected);
  });
});
