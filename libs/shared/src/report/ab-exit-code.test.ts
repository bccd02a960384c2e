import { describe, expect, it } from 'vitest';
import type { Fatal } from '../metrics/fatal.js';
import { balancedCounters, sampleReport } from '../testing/observed.js';
import { abExitOf, abExitOfFatal } from './ab-exit-code.js';

const fatal = (code: string, more: Partial<Fatal> = {}): Fatal => ({ code, message: 'no more', ...more });

describe('abExitOfFatal', () => {
  it.each<[Fatal, number, string]>([
    [
      fatal('ECONNREFUSED', { failureClass: 'connectRefused', errno: 111 }),
      111,
      'apr_socket_recv: Connection refused (111)',
    ],
    [
      fatal('ECONNRESET', { failureClass: 'resetBeforeFirstByte', errno: 104 }),
      104,
      'apr_socket_recv: Connection reset by peer (104)',
    ],
    [
      fatal('TIMEOUT', { failureClass: 'timeout' }),
      119,
      'apr_pollset_poll: The timeout specified has expired (70007)',
    ],
    [
      fatal('ETIMEDOUT', { failureClass: 'connectTimeout', errno: 110 }),
      119,
      'apr_pollset_poll: The timeout specified has expired (70007)',
    ],
    [fatal('EMFILE', { failureClass: 'noDescriptor', errno: 24 }), 24, 'socket: Too many open files (24)'],
    [
      fatal('EADDRNOTAVAIL', { failureClass: 'noLocalPort', errno: 99 }),
      99,
      'bind: Cannot assign requested address (99)',
    ],
    [fatal('ENOTFOUND'), 50, 'apr_sockaddr_info_get() for no.such: Name or service not known (670002)'],
    [
      fatal('EAI_AGAIN'),
      51,
      'apr_sockaddr_info_get() for no.such: Temporary failure in name resolution (670003)',
    ],
    [
      fatal('EHOSTUNREACH', { failureClass: 'connectUnreachable' }),
      113,
      'apr_socket_connect(): No route to host (113)',
    ],
    [fatal('EPIPE', { failureClass: 'write' }), 32, 'apr_socket_send: Broken pipe (32)'],
    // A class of ours without a system error's name still ends like the system error that it stands for.
    [
      fatal('RESET', { failureClass: 'resetAfterFirstByte' }),
      104,
      'apr_socket_recv: Connection reset by peer (104)',
    ],
    [fatal('ENGINE', { message: 'engine\u001b[2J stopped' }), 1, 'ab: engine?[2J stopped'],
    [fatal('MALFORMED', { failureClass: 'malformed' }), 1, 'ab: no more'],
  ])('%j ends with %i', (given, code, stderr) => {
    expect(abExitOfFatal(given, 'no.such')).toEqual({ code, stderr });
  });
});

describe('abExitOf', () => {
  it('ends with 0 although requests failed', () => {
    const report = sampleReport({ seen: { counters: balancedCounters({ completed: 1, timeout: 99 }) } });
    expect(abExitOf(report)).toEqual({ code: 0 });
  });

  it('does not end with 0 when the books do not balance', () => {
    const report = sampleReport({ input: { problems: ['shard 0: interval 2 is missing'] } });
    const { code, stderr } = abExitOf(report);
    expect(code).toBe(1);
    expect(stderr).toContain('ab: the books do not balance: shard 0: interval 2 is missing');
  });

  it('says how many requests were done before a fatal error, if any', () => {
    const given = fatal('ECONNRESET', { failureClass: 'resetBeforeFirstByte' });
    const some = sampleReport({
      seen: { counters: balancedCounters({ completed: 10, resetBeforeFirstByte: 1 }) },
      input: { fatal: given },
    });
    expect(abExitOf(some)).toMatchObject({ code: 104, totalLine: 'Total of 10 requests completed' });
    expect(abExitOf(sampleReport({ input: { fatal: given } }))).not.toHaveProperty('totalLine');
  });

  it('ends with 1 and no message when somebody interrupted the run', () => {
    const { run } = sampleReport();
    const report = sampleReport({
      seen: { counters: balancedCounters({ completed: 100 }) },
      input: { run: { ...run, state: 'aborted', reason: 'SIGINT' } },
    });
    expect(abExitOf(report)).toEqual({ code: 1 });
  });

  it('ends with 1 and the reason when the run could not be carried out', () => {
    const { startedAt: _, ...run } = sampleReport().run;
    const report = sampleReport({ input: { run: { ...run, state: 'failed', reason: 'no agents' } } });
    expect(abExitOf(report)).toEqual({ code: 1, stderr: 'ab: no agents' });
  });
});
