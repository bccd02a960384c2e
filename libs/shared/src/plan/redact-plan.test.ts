import { describe, expect, it } from 'vitest';
import { createRunSchema } from '../wire/rest.js';
import { problemsOf } from './parse-plan.js';
import { planSchema } from './plan.schema.js';
import { holdsSecrets, redactPlan } from './redact-plan.js';
import { splitPlan } from './split-plan.js';

const SECRET = 'c2VjcmV0';
const plan = planSchema.parse({
  target: 'https://h/',
  user: `u:${SECRET}`,
  proxy: 'p',
  proxyUser: `p:${SECRET}`,
  headers: [
    `Authorization: Bearer ${SECRET}`,
    `proxy-authorization:Basic ${SECRET}`,
    `Cookie: session=${SECRET}`,
    'X-Authorization-Not: shown',
  ],
  tls: {
    cert: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----',
    key: `-----BEGIN PRIVATE KEY-----\n${SECRET}\n-----END PRIVATE KEY-----`,
  },
});

describe('a plan without its secrets', () => {
  it('holds none of them, shows where they were, and is a plan', () => {
    const redacted = redactPlan(plan);
    expect(JSON.stringify(plan).split(SECRET)).toHaveLength(7);
    expect(JSON.stringify(redacted)).not.toContain(SECRET);
    expect(redacted).toMatchObject({
      user: '(redacted)',
      proxyUser: '(redacted)',
      tls: { key: '(redacted)' },
    });
    expect(redacted.headers).toEqual([
      'Authorization: (redacted)',
      'proxy-authorization: (redacted)',
      'Cookie: (redacted)',
      'X-Authorization-Not: shown',
    ]);
    expect(planSchema.parse(redacted)).toEqual(redacted);
    expect(redactPlan(redacted)).toEqual(redacted);
  });

  it('is not changed where there are none', () => {
    const plain = planSchema.parse({ target: 'http://h/', headers: ['A: b'] });
    expect(redactPlan(plain)).toEqual(plain);
  });

  it('cannot be fired again', () => {
    expect(createRunSchema.safeParse(plan).success).toBe(true);
    const { error } = createRunSchema.safeParse(redactPlan(plan));
    const paths = error === undefined ? [] : problemsOf(error).map(({ path }) => path);
    expect(paths).toEqual(['user', 'proxyUser', 'tls.key', 'headers.0', 'headers.1', 'headers.2']);
  });
});

describe('a shard with secrets', () => {
  it.each([
    [{ user: 'a:b' }, true],
    [{ proxy: 'p', proxyUser: 'a:b' }, true],
    [{ target: 'https://h/', proxy: 'p', proxyUser: 'a:b' }, true],
    [{ headers: ['cookie: a'] }, true],
    [{ target: 'https://h/', tls: plan.tls }, true],
    [{ target: 'https://h/', proxy: 'p', headers: ['A: b'] }, false],
    [{}, false],
  ])('is known by what it carries: %j', (fields, holds) => {
    const [shard] = splitPlan(planSchema.parse({ target: 'http://h/', ...fields }), 'run', 1);
    expect(shard === undefined ? undefined : holdsSecrets(shard)).toBe(holds);
  });
});
