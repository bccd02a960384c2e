import { mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { takeMeasuringTurn } from './measuring-turn.js';

describe('turns to measure', () => {
  let folder = '';
  let file = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'broadside-turn-'));
    file = join(folder, 'below', 'capacity.json');
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('come one after the other, and leave nothing behind', async () => {
    let measuring = 0;
    let most = 0;
    await Promise.all(
      Array.from({ length: 5 }, async () => {
        const giveBack = await takeMeasuringTurn(file, 60_000);
        most = Math.max(most, ++measuring);
        await new Promise((resolve) => setImmediate(resolve));
        measuring--;
        await giveBack();
      }),
    );
    expect(most).toBe(1);
    expect(await readdir(join(folder, 'below'))).toEqual([]);
  });

  it('are not waited for where a killed process had the last one', async () => {
    const giveBack = await takeMeasuringTurn(file);
    const longAgo = new Date(Date.now() - 3_600_000);
    await utimes(`${file}.turn`, longAgo, longAgo);
    const giveBackToo = await takeMeasuringTurn(file, 60_000);
    // It is a new one, of now.
    expect((await stat(`${file}.turn`)).mtimeMs).toBeGreaterThan(longAgo.getTime());
    await giveBack();
    await giveBackToo();
  });

  it('are waited for no longer than their life, whatever the clock of the file system says', async () => {
    const giveBack = await takeMeasuringTurn(file);
    const later = new Date(Date.now() + 3_600_000);
    await utimes(`${file}.turn`, later, later);
    const goOn = await takeMeasuringTurn(file, 50);
    await goOn();
    // The turn of the other one is still its own.
    expect(await readdir(join(folder, 'below'))).toEqual(['capacity.json.turn']);
    await giveBack();
  });

  it('tell of a folder that cannot be written', async () => {
    await writeFile(join(folder, 'below'), '');
    await expect(takeMeasuringTurn(file)).rejects.toThrow(/ENOTDIR|EEXIST/);
  });
});
