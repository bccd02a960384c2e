import { afterEach, describe, expect, it, vi } from 'vitest';
import { Settings } from './settings.js';

const NAMES = {
  redisUrl: { flag: 'redis', variable: 'BROADSIDE_REDIS_URL' },
  slots: { flag: 'slots', variable: 'BROADSIDE_SLOTS' },
  name: { flag: 'name' },
} as const;

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('settings of a command', () => {
  it('come from the flag before the environment, and are called by where they came from', () => {
    vi.stubEnv('BROADSIDE_REDIS_URL', 'from-environment');
    const typed = new Settings({ redis: 'typed' }, NAMES);
    expect([typed.text('redisUrl'), typed.nameOf('redisUrl')]).toEqual(['typed', '--redis']);
    const untyped = new Settings({}, NAMES);
    expect([untyped.text('redisUrl'), untyped.nameOf('redisUrl')]).toEqual([
      'from-environment',
      'BROADSIDE_REDIS_URL',
    ]);
    vi.stubEnv('BROADSIDE_REDIS_URL', '');
    expect([untyped.text('redisUrl'), untyped.nameOf('redisUrl')]).toEqual([
      undefined,
      '--redis (or BROADSIDE_REDIS_URL)',
    ]);
    expect(untyped.nameOf('name')).toBe('--name');
    expect(typed.given(['redisUrl', 'name'])).toEqual({ redisUrl: 'typed' });
  });

  it('that are no whole number are refused by the name under which they came', () => {
    vi.stubEnv('BROADSIDE_SLOTS', 'many');
    const bounds = { least: 1, most: 8 };
    expect(() => new Settings({}, NAMES).wholeNumber('slots', bounds)).toThrow(
      /^BROADSIDE_SLOTS "many": must/,
    );
    expect(() => new Settings({ slots: '9' }, NAMES).wholeNumber('slots', bounds)).toThrow(
      /^--slots "9": must/,
    );
  });
});
