import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { capacityCacheFile, capacityKey, readCapacity, writeCapacity } from './capacity-cache.js';

const machine = { cpuModel: 'c', cpus: 4, arch: 'x64', os: 'Linux 6', node: 'v20' };
const settings = { slots: 4, transport: 'auto', version: '1' };

describe('what was measured before', () => {
  let folder = '';
  let file = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'broadside-capacity-'));
    file = join(folder, 'below', 'capacity.json');
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('is there again, for each kind of machine and settings by itself', async () => {
    const key = capacityKey(machine, settings);
    const other = capacityKey({ ...machine, cgroup: { version: 2, cpuQuota: 1 } }, settings);
    expect(other).not.toBe(key);
    expect(await readCapacity(file, key)).toBeUndefined();
    await writeCapacity(file, key, 1_000);
    await writeCapacity(file, other, 500);
    await writeCapacity(file, key, 2_000);
    expect(await readCapacity(file, key)).toBe(2_000);
    expect(await readCapacity(file, other)).toBe(500);
  });

  it('is whole after writers that write at the same moment', async () => {
    await Promise.all(Array.from({ length: 20 }, (_, i) => writeCapacity(file, `k${i}`, i + 1)));
    const { entries } = JSON.parse(await readFile(file, 'utf8')) as { entries: Record<string, number> };
    expect(Object.keys(entries).length).toBeGreaterThan(0);
  });

  it('does not grow without end', async () => {
    for (let i = 0; i < 70; i++) await writeCapacity(file, `k${i}`, 1);
    expect(await readCapacity(file, 'k0')).toBeUndefined();
    expect(await readCapacity(file, 'k69')).toBe(1);
  });

  it.each(['', 'no JSON', '{"format":"other"}', '{"format":"broadside-capacity","entries":{"k":-1}}'])(
    'is measured again where the file holds %j',
    async (text) => {
      const here = join(folder, 'capacity.json');
      await writeFile(here, text);
      expect(await readCapacity(here, 'k')).toBeUndefined();
      await writeCapacity(here, 'k', 7);
      expect(await readCapacity(here, 'k')).toBe(7);
    },
  );

  it('lies where such files belong', () => {
    expect(capacityCacheFile({ XDG_CACHE_HOME: '/c' })).toBe('/c/broadside/capacity.json');
    expect(capacityCacheFile({ XDG_CACHE_HOME: 'relative' })).toMatch(
      /\/\.cache\/broadside\/capacity\.json$/,
    );
  });
});
