import { describe, expect, it } from 'vitest';
import { type Welcome, welcomeText } from './welcome-text.js';

function textOf(more: Partial<Welcome> = {}): string {
  return welcomeText({
    url: 'http://127.0.0.1:7070',
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
});
