import { describe, expect, it } from 'vitest';
import { LoginThrottle, networkOf } from './login-throttle.js';

describe('the throttle of logins', () => {
  it('blocks an address that failed too often, and no other, for the rest of a minute', () => {
    let nowMs = 0;
    const throttle = new LoginThrottle({ perAddress: 3, overall: 100 }, () => nowMs);
    for (let i = 0; i < 3; i++) {
      expect(throttle.isBlocked('192.0.2.1')).toBe(false);
      throttle.fail('192.0.2.1');
    }
    expect(throttle.isBlocked('192.0.2.1')).toBe(true);
    expect(throttle.isBlocked('192.0.2.2')).toBe(false);
    nowMs = 59_999;
    expect(throttle.isBlocked('192.0.2.1')).toBe(true);
    nowMs = 60_000;
    expect(throttle.isBlocked('192.0.2.1')).toBe(false);
  });

  it('blocks everybody when too many fail from everywhere', () => {
    const throttle = new LoginThrottle({ perAddress: 3, overall: 100 }, () => 0);
    for (let i = 0; i < 100; i++) throttle.fail(`192.0.2.${i}`);
    expect(throttle.isBlocked('198.51.100.1')).toBe(true);
  });
});

it('takes a /64 of IPv6 for one address', () => {
  expect(
    [
      '192.0.2.1',
      '2001:db8:0:1:2:3:4:5',
      '2001:DB8:0:1::9',
      '2001:db8::1',
      'fe80::1%eth0',
      '::1',
      '::ffff:1.2.3.4',
    ].map(networkOf),
  ).toEqual([
    '192.0.2.1',
    '2001:db8:0:1::/64',
    '2001:db8:0:1::/64',
    '2001:db8:0:0::/64',
    'fe80:0:0:0::/64',
    '0:0:0:0::/64',
    '0:0:0:0::/64',
  ]);
});
