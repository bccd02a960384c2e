import { expect, it } from 'vitest';
import { type PlanInput, planSchema } from './plan.schema.js';
import { requestHeaderLines } from './request-lines.js';
import { parseTarget } from './target.js';

function lines(fields: Partial<PlanInput>, bodyBytes = 0): string[] {
  const plan = planSchema.parse({ target: 'http://h:81/', ...fields });
  const target = parseTarget(plan.target);
  if (typeof target === 'string') throw new Error(target);
  return requestHeaderLines(plan, target, bodyBytes);
}

it('adds what a server needs', () => {
  expect(lines({})).toEqual(['Host: h:81', expect.stringMatching(/^User-Agent: broadside\//), 'Accept: */*']);
});

it('adds nothing to exact headers', () => {
  expect(lines({ exactHeaders: true, headers: ['X: 1'], body: 'x' }, 1)).toEqual(['X: 1']);
});

it('does not repeat a header that is given, in whatever case', () => {
  const given = ['hOST: x', 'user-agent: y', 'ACCEPT: z', 'connection: close', 'content-length: 3'];
  expect(lines({ headers: given, method: 'POST' }, 3)).toEqual(given);
});

it('asks for the connection as the version needs it', () => {
  expect(lines({ keepAlive: false })).toContain('Connection: close');
  expect(lines({ httpVersion: '1.0' })).toContain('Connection: Keep-Alive');
  expect(lines({ httpVersion: '1.1' }).join()).not.toContain('Connection');
});

it('gives the length of a body, and of none where the method expects one', () => {
  expect(lines({ method: 'POST' })).toContain('Content-Length: 0');
  expect(lines({ method: 'GET' }, 5)).toContain('Content-Length: 5');
  expect(lines({ method: 'POST', headers: ['Transfer-Encoding: chunked'] }, 5).join()).not.toContain(
    'Length',
  );
});
