import { BROADSIDE_VERSION, BroadsideError, EXIT } from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import ownPackage from '../package.json' with { type: 'json' };
import { CliError } from './cli-error.js';
import { describeError, describeOutputFailure, EARLY_EXIT } from './describe-error.js';

describe('what main knows without libs/shared', () => {
  it('is what libs/shared says', () => {
    expect(EXIT).toMatchObject(EARLY_EXIT);
    expect(ownPackage.version).toBe(BROADSIDE_VERSION);
  });
});

describe('described errors', () => {
  it('are one line with the exit code of their kind', () => {
    expect(describeError(new CliError(EXIT.file, 'cannot write x'))).toEqual({
      text: 'broadside: cannot write x',
      exitCode: 6,
    });
    expect(describeError(new BroadsideError('invalid', 'bad port', { hint: 'choose another' }))).toEqual({
      text: 'broadside: bad port; choose another',
      exitCode: 2,
    });
    for (const code of ['unavailable', 'noSuchAgents', 'notEnoughSlots'] as const)
      expect(describeError(new BroadsideError(code, 'gone'))).toMatchObject({ exitCode: 5 });
    expect(describeError(Object.assign(new Error('no store'), { name: 'StoreError' }))).toMatchObject({
      exitCode: 5,
    });
  });

  it.each([
    ['EMFILE', 4, 'broadside: too many open files; raise the limit: ulimit -n 65536'],
    ['ENOSPC', 6, 'broadside: ENOSPC: text'],
    [
      'ERR_WORKER_OUT_OF_MEMORY',
      4,
      'broadside: not enough memory or threads here (ERR_WORKER_OUT_OF_MEMORY: text)',
    ],
  ])('say of %s what is used up, because it is no defect', (code, exitCode, text) => {
    expect(describeError(Object.assign(new Error(`${code}: text`), { code }))).toEqual({ text, exitCode });
  });

  it('show where a defect of ours happened', () => {
    const described = describeError(new TypeError('oops'));
    expect(described.exitCode).toBe(70);
    expect(described.text).toMatch(/internal error, please report it: TypeError: oops\n {4}at /);
    expect(describeError('text').exitCode).toBe(70);
  });
});

describe('a failure of standard output', () => {
  it('is told in one line, except for a reader that went away', () => {
    const failure = (code: string) => Object.assign(new Error(`${code}: text`), { code });
    expect(describeOutputFailure(failure('EPIPE'))).toBeUndefined();
    expect(describeOutputFailure(failure('ENOSPC'))).toBe(
      'cannot write standard output: no space left on the device',
    );
    expect(describeOutputFailure(failure('EIO'))).toBe('cannot write standard output: EIO: text');
  });
});
