import { describe, expect, it } from 'vitest';
import { LIMITS } from '../limits.js';
import { formatProblem, parsePlan } from './parse-plan.js';
import { DEFAULT_DURATION_MS, PLAN_DEFAULTS, type Plan } from './plan.schema.js';

const TARGET = 'http://127.0.0.1:8080/';

function accepted(value: unknown): Plan {
  const parsed = parsePlan(value);
  if (!parsed.ok) throw new Error(parsed.problems.map(formatProblem).join('; '));
  return parsed.plan;
}

function problems(value: unknown): string[] {
  const parsed = parsePlan(value);
  return parsed.ok ? [] : parsed.problems.map(formatProblem);
}

describe('parsePlan', () => {
  it('fills in the defaults of the table, and ten seconds when there is no budget', () => {
    expect(accepted({ target: TARGET })).toEqual({
      ...PLAN_DEFAULTS,
      target: TARGET,
      headers: [],
      durationMs: DEFAULT_DURATION_MS,
    });
    expect(accepted({ target: TARGET, requests: 50 })).not.toHaveProperty('durationMs');
  });

  it.each([
    { target: TARGET },
    { target: TARGET, requests: 1_000, connections: 7, duration: '1m30s', timeout: 0.5 * 1_000 },
    { target: TARGET, headers: { 'X-A': 'b', 'X-N': 5 }, body: 'ä', slots: 2, name: 'first' },
    { target: TARGET, bodyBase64: 'aGk=', checkLength: true, probe: true, httpVersion: '1.0' },
  ])('gives a frozen plan that parses to itself: %j', (value) => {
    const plan = accepted(value);
    expect(Object.isFrozen(plan)).toBe(true);
    expect(accepted(plan)).toEqual(plan);
    expect(accepted(JSON.parse(JSON.stringify(plan)))).toEqual(plan);
  });

  it('has no more connections than requests where nobody asked for a number', () => {
    expect(parsePlan({ target: TARGET, requests: 3 })).toMatchObject({ plan: { connections: 3 } });
    expect(parsePlan({ target: TARGET, requests: 300 })).toMatchObject({ plan: { connections: 10 } });
    expect(parsePlan({ target: TARGET, requests: 3, rate: 1 })).toMatchObject({ plan: { connections: 10 } });
    expect(problems({ target: TARGET, requests: 3, slots: 4 })).toEqual([
      'slots: 4 slots are more than 3 connections',
    ]);
  });

  it('takes durations as people write them, and headers as a map', () => {
    const plan = accepted({ target: TARGET, duration: '1m30s', timeout: '250ms', headers: { A: 'b', C: 1 } });
    expect(plan).toMatchObject({ durationMs: 90_000, timeoutMs: 250, headers: ['A: b', 'C: 1'] });
    expect(plan).not.toHaveProperty('duration');
    expect(plan).not.toHaveProperty('timeout');
  });

  it('reports all problems at once, each with its path', () => {
    expect(
      problems({
        connections: 0,
        requests: 1.5,
        timeout: '5 parsecs',
        method: 'G T',
        headers: ['A: b', 'B: c\r\nInjected: 1'],
        keepAliv: true,
        slots: 0,
        duration: '10s',
        durationMs: 5,
      }),
    ).toEqual([
      'target: is missing',
      'method: not an HTTP method',
      'headers.1: a header line must not hold a line break',
      'connections: must be at least 1',
      'requests: must be a whole number',
      'timeout: must be a duration between 1ms and 3600s, like 30s',
      'slots: must be at least 1',
      'keepAliv: unknown field, did you mean keepAlive?',
      'duration: give duration or durationMs, not both',
    ]);
  });

  it('checks fields against each other although others are wrong', () => {
    expect(
      problems({
        target: 'ftp://x/',
        connections: 50,
        requests: 5,
        slots: 100,
        checkLength: true,
        body: '',
        bodyBase64: '',
        timeout: 1,
        timeoutMs: 1,
      }),
    ).toEqual([
      'target: the address must begin with http:// or https://',
      'connections: 50 connections are more than 5 requests',
      'slots: 100 slots are more than 50 connections',
      'timeout: give timeout or timeoutMs, not both',
      'bodyBase64: give bodyBase64 or body, not both',
      'checkLength: needs probe: true',
    ]);
  });

  it('does not compare fields that are wrong by themselves', () => {
    expect(problems({ target: TARGET, connections: 'many', requests: 5, slots: 3 })).toEqual([
      'connections: must be a whole number',
    ]);
  });

  it.each([null, undefined, 5, 'plan', [], true])('refuses %j as a plan', (value) => {
    expect(problems(value)).toEqual(['must be an object with fields such as target']);
  });

  it.each<[string, object]>([
    ['a header value from a list', { headers: ['A: b\r\nC: d'] }],
    ['a header line end', { headers: ['A: b\n'] }],
    ['a NUL in a header', { headers: ['A: b\0'] }],
    ['a header value from a map', { headers: { A: 'b\r\nC: d' } }],
    ['a header name', { headers: { 'A: b\r\nC': 'd' } }],
    ['the method', { method: 'GET / HTTP/1.1\r\nX:' }],
    ['the path', { target: 'http://h/ HTTP/1.1\r\nX: y' }],
    ['the host', { target: 'http://h\r\nX: y/' }],
    ['a user name', { target: 'http://me:secret@h/' }],
    ['the name', { name: 'a\r\nb' }],
    ['too many headers', { headers: Array.from({ length: LIMITS.maxRequestHeaders + 1 }, () => 'A: b') }],
    ['a header that is too long', { headers: [`A: ${'b'.repeat(LIMITS.maxRequestHeaderBytes)}`] }],
    ['a body that is too large only in bytes', { body: 'ä'.repeat(LIMITS.maxRequestBodyBytes / 2 + 1) }],
    ['an endless run', { durationMs: LIMITS.maxDurationMs + 1 }],
    ['an impossible number', { requests: Number.MAX_VALUE }],
    ['not a number', { connections: Number.NaN }],
  ])('refuses %s', (_, fields) => {
    expect(problems({ target: TARGET, ...fields })).toHaveLength(1);
  });

  it('wants a name and a colon in a header line, unless lines are sent exactly as they are', () => {
    const headers = ['A: b', 'foo', 'B:'];
    expect(problems({ target: TARGET, headers })).toEqual(['headers: header 2 is not `Name: value`']);
    expect(problems({ target: TARGET, headers: [': x'] })).toHaveLength(1);
    expect(parsePlan({ target: TARGET, headers, exactHeaders: true }).ok).toBe(true);
  });

  it('does not repeat a password from the target', () => {
    expect(problems({ target: 'http://me:secret@h/' }).join()).not.toContain('secret');
  });
});
