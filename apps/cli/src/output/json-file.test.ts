import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openJsonDestination } from './json-file.js';

describe('a file for a report', () => {
  it('without a name is refused before anything is started', async () => {
    await expect(openJsonDestination('')).rejects.toThrow('a file to write to must have a name');
  });

  it('that cannot be written is refused before anything is started, and nothing is left behind', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'broadside-json-'));
    try {
      await expect(openJsonDestination(join(folder, 'none', 'r.json'))).rejects.toThrow(
        'no such file or folder',
      );
      await expect(openJsonDestination(folder)).rejects.toThrow('it is a folder');
      await writeFile(join(folder, 'file'), '');
      await expect(openJsonDestination(join(folder, 'file', 'r.json'))).rejects.toThrow('is no folder');
      await openJsonDestination(join(folder, 'r.json'));
      expect(await readdir(folder)).toEqual(['file']);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
