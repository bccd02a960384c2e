import { describe, expect, it } from 'vitest';
import { type PlanInput, planSchema } from '../plan/plan.schema.js';
import { placesOf, refusedTargetOf } from './plan-targets.js';
import { CLUSTER_TARGETS, targetPolicyOf } from './target-policy.js';

const planOf = (fields: PlanInput) => planSchema.parse({ requests: 1, ...fields });

describe('the places of a plan', () => {
  it.each<[PlanInput, unknown]>([
    [{ target: 'http://h:81/x' }, [{ host: 'h', port: 81 }]],
    [{ target: 'https://[::1]/' }, [{ host: '::1', port: 443 }]],
    [
      { target: 'https://h/', proxy: 'p:3128' },
      [
        { host: 'p', port: 3128 },
        { host: 'h', port: 443 },
      ],
    ],
    [{ target: 'http://h/', connectTo: '10.0.0.1' }, [{ host: '10.0.0.1', port: 80 }]],
    [{ target: 'http://h/', unixSocket: '/run/a' }, [{ unixSocket: '/run/a' }]],
  ])('of %j are what is connected to, and what a proxy connects to', (fields, places) => {
    expect(placesOf(planOf(fields))).toMatchObject(places as object);
  });

  it.each<[PlanInput, string | undefined]>([
    [{ target: 'http://127.0.0.1:8080/' }, undefined],
    [{ target: 'http://app.test/' }, undefined],
    [{ target: 'http://93.184.216.34/' }, '93.184.216.34:80'],
    [{ target: 'http://127.0.0.1/', proxy: '93.184.216.34' }, '93.184.216.34:8080'],
    [{ target: 'http://93.184.216.34/', proxy: '127.0.0.1' }, '93.184.216.34:80'],
    [{ target: 'http://127.0.0.1/', connectTo: '[2001:db8::1]:81' }, '[2001:db8::1]:81'],
    [{ target: 'http://[::ffff:169.254.169.254]/' }, '[::ffff:169.254.169.254]:80'],
    [{ target: 'http://127.0.0.1/', unixSocket: '/run/a' }, 'unix:/run/a'],
  ])('of %j are judged one by one', (fields, place) => {
    const refusal = refusedTargetOf(targetPolicyOf(CLUSTER_TARGETS), planOf(fields));
    expect(refusal?.place).toBe(place);
  });
});
