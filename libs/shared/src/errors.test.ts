import { expect, it } from 'vitest';
import { BroadsideError, ERROR_STATUS } from './errors.js';

it('carries code, hint, problems and cause', () => {
  const cause = new Error('below');
  const error = new BroadsideError('invalid', 'the plan is not valid', {
    hint: 'see docs',
    problems: [{ path: 'connections', message: 'must be at least 1' }],
    cause,
  });
  expect(error).toBeInstanceOf(Error);
  expect(error).toMatchObject({
    name: 'BroadsideError',
    code: 'invalid',
    message: 'the plan is not valid',
    hint: 'see docs',
    problems: [{ path: 'connections', message: 'must be at least 1' }],
    cause,
  });
});

it('needs neither hint nor problems', () => {
  expect(new BroadsideError('busy', 'x')).toMatchObject({ hint: undefined, problems: [], cause: undefined });
});

it('maps every code to an error status', () => {
  for (const status of Object.values(ERROR_STATUS)) {
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(600);
  }
});
