import { describe, expect, it } from 'vitest';
import { type Welcome, welcomeText } from './welcome-text.js';

function textOf(more: Partial<Welcome> = {}): string {
  return welcomeText({
    url: 'http://127.0.0.1:7070',
    hostname: 'load-1',
    settings: {},
    slots: 2,
    tokenFile: undefined,
    needsToken: true,
    adminTokenFileUse: undefined,
    ...more,
  });
}

describe('the first lines of a coordinator', () => {
  it('name the admin token file only where it holds a token', () => {
    const settings = { adminTokenFile: '/f/admin-token' };
    for (const adminTokenFileUse of ['made', 'read'] as const) {
      expect(textOf({ settings, adminTokenFileUse })).toContain("the first admin's token: /f/admin-token\n");
    }
    const unneeded = textOf({ settings, adminTokenFileUse: 'unneeded' });
    expect(unneeded).not.toContain('/f/admin-token');
    expect(unneeded).toContain('who has lost that token starts with BROADSIDE_TOKEN=… set\n');
    const given = textOf({ settings: { ...settings, apiToken: 't' }, adminTokenFileUse: 'unneeded' });
    expect(given).toContain('somebody is admin already, so no token was made\n');
    expect(textOf()).not.toContain('admin');
  });

  it('name the machine where the coordinator listens on all of its addresses', () => {
    const settings = { redisUrl: 'redis://10.0.0.9:6379' };
    for (const host of ['0.0.0.0', '[::]']) {
      const text = textOf({ url: `https://${host}:7070`, settings });
      expect(text).toContain('agent --join https://load-1:7070 ');
      expect(text).not.toContain('--agent-redis');
    }
    expect(textOf({ url: 'http://0.0.0.0:80', settings })).toContain('agent --join http://load-1:80 ');
    expect(textOf({ url: 'http://10.0.0.1:80', settings })).toContain('agent --join http://10.0.0.1:80 ');
  });

  it('say that agents elsewhere do not find a Redis on loopback', () => {
    const url = 'http://0.0.0.0:7070';
    for (const redisUrl of ['redis://127.0.0.1:6379', 'redis://localhost', 'rediss://[::1]:6379']) {
      expect(textOf({ url, settings: { redisUrl } })).toContain('--agent-redis URL\n');
      const reached = { redisUrl, agentRedisUrl: 'redis://10.0.0.9:6379' };
      expect(textOf({ url, settings: reached })).not.toContain('--agent-redis');
      // Nobody from elsewhere reaches this coordinator.
      expect(textOf({ settings: { redisUrl } })).not.toContain('--agent-redis');
    }
  });
});
