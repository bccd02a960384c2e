import { describe, expect, it } from 'vitest';
import { readOwnLimits, tooFewDescriptors } from './descriptor-limit.js';

function limitsOf(files: string): string {
  const head = 'Limit                     Soft Limit           Hard Limit           Units     ';
  return `${head}\nMax open files            ${files}      files     \n`;
}

describe('the limit of open files', () => {
  it('is refused where no command could be loaded, with what to do', () => {
    const text = tooFewDescriptors(limitsOf('256                  256'));
    expect(text).toMatch(/^only 256 open files are allowed here, and at least 512 .* ulimit -n 65536/);
    expect(text).not.toContain('\n');
  });

  it.each([
    [limitsOf('512                  1024')],
    [limitsOf('unlimited            unlimited')],
    [''],
    [undefined],
  ])('of %j is enough, or unknown', (limits) => {
    expect(tooFewDescriptors(limits)).toBeUndefined();
  });

  it('is known on Linux', () => {
    expect(readOwnLimits()?.includes('Max open files') ?? false).toBe(process.platform === 'linux');
  });
});
