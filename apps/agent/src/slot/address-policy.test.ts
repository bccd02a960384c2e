import { describe, expect, it } from 'vitest';
import { isAllowedAddress } from './address-policy.js';

describe('isAllowedAddress', () => {
  it.each([
    '127.0.0.1',
    '::1',
    '10.1.2.3',
    '192.168.1.1',
    '93.184.216.34',
    '2001:db8::1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    'unix:/run/target.sock',
  ])('lets load go to %s', (address) => {
    expect(isAllowedAddress(address)).toBe(true);
  });

  it.each([
    '169.254.169.254',
    '169.254.0.1',
    'fe80::1',
    'fe80::1%eth0',
    'febf::1',
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    '0:0:0:0:0:ffff:a9fe:a9fe',
    '64:ff9b::a9fe:a9fe',
    '100.100.100.200',
    '::ffff:100.100.100.200',
    'fd00:ec2::254',
    'fd00:0ec2:0:0:0:0:0:254',
    'not an address',
  ])('lets none go to %s', (address) => {
    expect(isAllowedAddress(address)).toBe(false);
  });
});
