import { describe, expect, it } from 'vitest';
import { onlyRunOf } from './find-run.js';

const RUNS = [{ id: 'ab12cd34-0' }, { id: 'ab99cd34-1' }, { id: 'ff00cd34-2' }];

describe('the run that the beginning of an id means', () => {
  it('is the only one that begins so', () => {
    expect(onlyRunOf('f', RUNS)).toBe('ff00cd34-2');
    expect(onlyRunOf('ab9', RUNS)).toBe('ab99cd34-1');
  });

  it.each([
    ['ab', 2, 'the ids of 2 runs begin with ab; give more of it'],
    ['00', 5, 'there is no run 00…; `broadside runs` lists the newest; of an older one give the whole id'],
  ])('is asked for again where %s begins none or several', (prefix, exitCode, message) => {
    expect(() => onlyRunOf(prefix, RUNS)).toThrow(expect.objectContaining({ exitCode, message }));
  });
});
