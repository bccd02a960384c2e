import { BroadsideError, errorBodySchema } from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import { StoreError } from '../storage/store-error.js';
import { errorReplyOf } from './error-body.js';

describe('the body of a refusal', () => {
  it('has the code, the hint and all problems of an expected failure', () => {
    const problems = [{ path: 'target', message: 'is missing' }];
    const reply = errorReplyOf(new BroadsideError('invalid', 'not valid', { hint: 'mend it', problems }));
    expect(reply.status).toBe(400);
    expect(errorBodySchema.parse(reply.body)).toEqual({
      error: { code: 'invalid', message: 'not valid', hint: 'mend it', problems },
    });
  });

  it('keeps the status of an error of the framework', () => {
    const error = Object.assign(new Error('Cannot GET /x'), { status: 404 });
    expect(errorReplyOf(error)).toMatchObject({ status: 404, body: { error: { code: 'notFound' } } });
  });

  it('says what is wrong with an address in words of ours', () => {
    const reply = errorReplyOf(new URIError("Failed to decode param '%zz'"));
    expect(reply).toMatchObject({ status: 400, isOurs: false });
    expect(reply.body.error.message).toMatch(/^the address of the request cannot be decoded: after each %/);
  });

  it.each([
    new StoreError('the thread of the store ended'),
    Object.assign(new Error('x'), { code: '58P01' }),
  ])('says of a store that fails that it is the store, and no more: %s', (error) => {
    const reply = errorReplyOf(error);
    expect(reply).toMatchObject({ status: 503, isOurs: true, body: { error: { code: 'unavailable' } } });
    expect(reply.body.error.message).toBe("the coordinator's store cannot be used");
  });

  it('does not show a defect of ours to strangers', () => {
    const reply = errorReplyOf(new Error('password=hunter2'));
    expect(reply).toMatchObject({ status: 500, isOurs: true });
    expect(JSON.stringify(reply.body)).not.toContain('hunter2');
  });
});
