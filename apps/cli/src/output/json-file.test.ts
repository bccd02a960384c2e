import { describe, expect, it } from 'vitest';
import { openJsonDestination } from './json-file.js';

describe('a file for a report', () => {
  it('without a name is refused before anything is started', async () => {
    await expect(openJsonDestination('')).rejects.toThrow('a file to write to must have a name');
  });
});
