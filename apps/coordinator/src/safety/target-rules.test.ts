import { expect, it } from 'vitest';
import { targetRulesOf } from './target-rules.js';

it('lets a person on one machine go everywhere, and a cluster to its own networks', () => {
  expect(targetRulesOf({ host: '127.0.0.1' }).allow).toContain('*');
  const cluster = { allow: ['loopback', 'private'], deny: [] };
  expect(targetRulesOf({ host: '0.0.0.0' })).toEqual(cluster);
  expect(targetRulesOf({ host: '127.0.0.1', redisUrl: 'redis://h' })).toEqual(cluster);
});

it('takes the given rules instead, and those that deny beside them', () => {
  const given = { host: '0.0.0.0', allowTargets: ['*.test'], denyTargets: ['a.test'] };
  expect(targetRulesOf(given)).toEqual({ allow: ['*.test'], deny: ['a.test'] });
  expect(targetRulesOf({ host: '127.0.0.1', denyTargets: ['10.0.0.0/8'] }).allow).toContain('*');
});
