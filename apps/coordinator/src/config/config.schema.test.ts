import { BroadsideError } from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import { type ConfigInput, isLoopback, parseConfig } from './config.schema.js';

function problemsFor(input: ConfigInput): string[] {
  try {
    parseConfig(input);
  } catch (error) {
    if (error instanceof BroadsideError) return error.problems.map((problem) => problem.path);
    throw error;
  }
  return [];
}

describe('the configuration', () => {
  it('listens on loopback without any setting', () => {
    expect(parseConfig({})).toMatchObject({ host: '127.0.0.1', port: 0, dataDir: 'ephemeral' });
  });

  it('refuses to listen beyond loopback without both tokens', () => {
    expect(problemsFor({ host: '0.0.0.0' })).toEqual(['joinToken', 'apiToken']);
    expect(problemsFor({ host: '::', joinToken: 'long-enough-token-1' })).toEqual(['apiToken']);
    expect(problemsFor({ host: '10.0.0.1', joinToken: 'short', apiToken: 'long-enough-token-1' })).toEqual([
      'joinToken',
    ]);
  });

  it('names all problems at once and prints no secret', () => {
    const input = {
      port: 99_999,
      redisUrl: 'http://user:hunter2@x',
      databaseUrl: 'hunter2',
      joinToken: 'a b',
    };
    expect(problemsFor(input)).toEqual(['port', 'databaseUrl', 'redisUrl', 'joinToken']);
    expect(() => parseConfig(input)).toThrow(/^(?!.*hunter2)/);
  });

  it('knows which addresses only this machine can reach', () => {
    for (const host of ['127.0.0.1', '127.9.9.9', 'localhost', '::1', '[::1]']) {
      expect(isLoopback(host), host).toBe(true);
    }
    for (const host of ['0.0.0.0', '::', '10.0.0.1', 'example.org', '127.0.0.1.example.org']) {
      expect(isLoopback(host), host).toBe(false);
    }
  });
});
