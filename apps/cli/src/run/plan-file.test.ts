import { describe, expect, it } from 'vitest';
import { CliError } from '../cli-error.js';
import { describePlanProblems, parsePlanText } from './plan-file.js';

function refusalOf(text: string): CliError {
  try {
    parsePlanText('p.yaml', text);
  } catch (error) {
    if (error instanceof CliError) return error;
    throw error;
  }
  throw new Error('accepted');
}

describe('plan text', () => {
  it('is read as a plain map, and JSON is YAML', () => {
    expect(parsePlanText('p', 'target: http://h/\nconnections: 5\n').value).toEqual({
      target: 'http://h/',
      connections: 5,
    });
    expect(parsePlanText('p', '{"target": "http://h/", "requests": 7}').value).toEqual({
      target: 'http://h/',
      requests: 7,
    });
  });

  it.each([
    ['', /^p\.yaml: the plan file is empty/],
    ['# only a comment\n', /empty|must be a map/],
    ['- a\n- b\n', /must be a map/],
    ['hello', /must be a map/],
    ['target: [a\n', /^p\.yaml:\d+:\d+: not valid YAML: /],
    ['a: 1\na: 2\n', /^p\.yaml:2:1: .*unique/],
    ['a: 1\n---\nb: 2\n', /holds 2 documents/],
    ['a: &x 1\nb: *x\n', /aliases are not allowed/],
    [`${'['.repeat(50)}${']'.repeat(50)}`, /nested deeper than 20 levels/],
  ])('%j is refused in one line, before anything is started', (text, reason) => {
    const refusal = refusalOf(text);
    expect(refusal.message).toMatch(reason);
    expect(refusal.message).not.toContain('\n');
    expect(refusal.exitCode).toBe(2);
  });

  it('a text that is deeper than the parser can go is refused in one short line', () => {
    expect(refusalOf('['.repeat(20_000)).message).toBe('p.yaml: nested deeper than 20 levels');
  });

  it('does not unfold aliases that ask for endless memory', () => {
    const levels = Array.from({ length: 20 }, (_, i) => `l${i + 1}: &l${i + 1} [${`*l${i},`.repeat(9)}]`);
    expect(refusalOf(['l0: &l0 [x]', ...levels].join('\n')).message).toMatch(/aliases are not allowed/);
  });

  it('cannot reach the prototype of the value', () => {
    const { value } = parsePlanText('p', '__proto__:\n  polluted: true\ntarget: http://h/\n');
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect('polluted' in value).toBe(false);
  });
});

describe('problems of a plan', () => {
  const file = parsePlanText('p', 'target: http://h/\nconnections: 0\nheaders:\n  - "A: b"\n  - 5\n');

  it('all come at once, in the order of the file, each with the place of its field', () => {
    const problems = [
      { path: 'headers.1', message: 'not text' },
      { path: 'connections', message: 'must be at least 1' },
      { path: 'requests', message: 'missing' },
    ];
    expect(describePlanProblems(problems, file)).toBe(
      'p: requests: missing; 2:1: connections: must be at least 1; 5:5: headers.1: not text',
    );
  });

  it('cite the key that was mistyped, however deep', () => {
    const nested = parsePlanText('p', 'stages:\n  - duration: 1s\n    rat: 5\ntls: {verfy: no}\n');
    expect([nested.placeOf('stages.0.rat')?.name, nested.placeOf('tls.verfy')?.name]).toEqual(['3:5', '4:7']);
    expect(nested.placeOf('stages.7.rate')?.name).toBe('1:1');
  });

  it('stay readable when there are very many', () => {
    const problems = Array.from({ length: 1_000 }, (_, i) => ({ path: `f${i}`, message: 'bad' }));
    expect(describePlanProblems(problems, file)).toMatch(/; and 980 more$/);
  });
});
