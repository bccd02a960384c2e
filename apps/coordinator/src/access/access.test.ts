import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tokenTextOf } from '@broadside/shared';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseConfig } from '../config/config.schema.js';
import { openAccess } from './access.js';
import type { TokenService } from './token.service.js';
import { digestOf, TokenRegistry } from './token-registry.js';

describe('the admin token file', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'broadside-access-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const now = (): Date => new Date(0);
  const tokenText = (kind: 'user' | 'agent'): string => tokenTextOf(kind, new Uint8Array(32));
  const open = (adminTokenFile: string, hasAdmin = false) => {
    const registry = new TokenRegistry(now);
    const digest = digestOf(tokenText('user'));
    if (hasAdmin) {
      registry.add({ id: 'a', name: 'a', role: 'admin', source: 'made', digest, createdAt: now() });
    }
    const tokens = {
      open: () => Promise.resolve(),
      createFirstAdmin: (deliver: (token: string) => Promise<void>) => deliver(tokenText('user')),
    };
    return openAccess({
      config: parseConfig({ adminTokenFile }),
      registry,
      // Only what this test comes by is there.
      tokens: tokens as unknown as TokenService,
      joinToken: tokenText('agent'),
      now,
    });
  };

  it('is made where nobody is admin, read the next time, and not needed where somebody is', async () => {
    const file = join(folder, 'first');
    expect(await open(file)).toBe('made');
    expect(await open(file, true)).toBe('read');
    const other = join(folder, 'other');
    expect(await open(other, true)).toBe('unneeded');
    await expect(readFile(other)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('is refused as empty when it is, on whichever address', async () => {
    const file = join(folder, 'empty');
    await writeFile(file, '\n');
    await expect(open(file)).rejects.toThrow(/^the admin token file .*empty is empty$/);
  });
});
