import { describe, expect, it } from 'vitest';
import { queueReason } from './queue-reason.js';

describe('queueReason', () => {
  it('gives the word of the server, without the place in a script', () => {
    const script = '4ac9d9a2d1f6b7a5b6f0d9e8c7b6a5f4e3d2c1b0';
    expect(
      queueReason(
        new Error(
          `OOM command not allowed when used memory > 'maxmemory'. script: ${script}, on @user_script:12.`,
        ),
      ),
    ).toBe("OOM command not allowed when used memory > 'maxmemory'.");
    expect(queueReason(new Error("READONLY You can't write against a read only replica."))).toBe(
      "READONLY You can't write against a read only replica.",
    );
  });

  it('gives what made a transaction fail, not that it did', () => {
    const discarded = Object.assign(
      new Error('EXECABORT Transaction discarded because of previous errors.'),
      {
        previousErrors: [new Error('NOAUTH Authentication required.')],
      },
    );
    expect(queueReason(discarded)).toBe('NOAUTH Authentication required.');
  });

  it.each([
    'Reached the max retries per request limit (which is 0). Refer to "maxRetriesPerRequest" option for details.',
    "Stream isn't writeable and enableOfflineQueue options is false",
    'Connection is closed.',
    'Command timed out',
  ])('says of %j that nobody answers', (message) => {
    expect(queueReason(new Error(message))).toBe('it does not answer');
  });

  it('is one short line whatever was thrown', () => {
    expect(queueReason(`a\nb${'c'.repeat(500)}`)).toMatch(/^a bc{197}$/);
  });
});
